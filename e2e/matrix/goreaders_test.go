package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"firn/internal/parquet"
)

// goReaders read within the process and give the text of each row.
var goReaders = []struct {
	name string
	read func(d *dataset, data []byte) ([][]byte, error)
}{
	{"arrow-go", readArrow},
	{"parquet-go", readParquetGo},
}

// TestGoReaders has the readers in Go read the flat dataset in every cell, and the nested one, which is large, in
// enough of them that each two options meet.
func TestGoReaders(t *testing.T) {
	every := cells()
	if slow {
		every = pairs(every)
	}
	for d, cells := range map[*dataset][]cell{flat(): every, nested(): cellsOfEachCodec()} {
		for _, c := range cells {
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				data := c.write(t, d)
				for _, reader := range goReaders {
					if why := excluded(reader.name, &c); why != "" {
						t.Logf("skipped: %s (%s)", reader.name, why)
						continue
					}
					got, err := reader.read(d, data)
					if err != nil {
						t.Errorf("%s: %v", reader.name, err)
						continue
					}
					d.compare(t, reader.name, d.name+"."+c.name, got)
				}
			})
		}
	}
}

// excluded says why a reader does not read a cell; else it is empty.
func excluded(reader string, c *cell) string {
	if reader == "parquet-go" && c.options.Codec == parquet.CodecLZ4Raw {
		return "parquet-go 0.32 reads zeros from an LZ4_RAW page that is more than a third of its uncompressed size: it " +
			"drops the buffer that its decoder returned"
	}
	return ""
}

// differencesMax is how many are told of a file.
const differencesMax = 5

// compare reports where a reader's rows are not those of the dataset. file says which was read, for a message.
func (d *dataset) compare(t *testing.T, reader, file string, got [][]byte) {
	t.Helper()
	all := d.wantOf(reader)
	if len(got) != len(all) {
		t.Errorf("%s: %s: %d rows, want %d", reader, file, len(got), len(all))
		return
	}
	told := 0
	for i, want := range all {
		if bytes.Equal(want, got[i]) {
			continue
		}
		for _, fault := range d.differences(want, got[i]) {
			if told++; told > differencesMax {
				t.Errorf("%s: %s: and more", reader, file)
				return
			}
			t.Errorf("%s: %s: row %d, %s", reader, file, i, fault)
		}
	}
}

// differences compares two rows column by column.
func (d *dataset) differences(want, got []byte) []string {
	var w, g []json.RawMessage
	if err := json.Unmarshal(want, &w); err != nil {
		return []string{fmt.Sprintf("want %s: %v", want, err)}
	}
	if err := json.Unmarshal(got, &g); err != nil || len(g) != len(w) {
		return []string{fmt.Sprintf("got %.200s: %d columns, want %d: %v", got, len(g), len(w), err)}
	}
	var out []string
	for j := range w {
		if !bytes.Equal(w[j], g[j]) {
			out = append(out, fmt.Sprintf("column %s: want %.300s, got %.300s", d.schema.Fields[j].Name, w[j], g[j]))
		}
	}
	if out == nil {
		return []string{"other white space"}
	}
	return out
}
