package matrix

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// TestFilesHaveWhatTheyAreFor looks whether files have several row groups, pages and encodings, so that readers have to
// read them.
func TestFilesHaveWhatTheyAreFor(t *testing.T) {
	all := cells()
	encodings := map[format.Encoding]bool{}
	for _, d := range []*dataset{flat(), nested(), ordered()} {
		for _, name := range []string{"none.v1.compatible.plain", "none.v2.auto.fallback.bloom", "zstd-3.v2.auto.plain"} {
			c := all[slices.IndexFunc(all, func(c cell) bool { return c.name == name })]
			data := c.write(t, d)
			f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			groups := f.Metadata().RowGroups
			if len(groups) < 2 {
				t.Errorf("%s.%s has %d row groups", d.name, name, len(groups))
			}
			blooms, pages := 0, map[string]int{}
			for _, g := range groups {
				for _, chunk := range g.Columns {
					path := strings.Join(chunk.MetaData.PathInSchema, ".")
					n := 0
					for _, e := range chunk.MetaData.EncodingStats {
						if e.PageType != format.DictionaryPage {
							n += int(e.Count)
						}
					}
					pages[path] = max(pages[path], n)
					for _, e := range chunk.MetaData.Encoding {
						encodings[e] = true
					}
					if chunk.MetaData.BloomFilterOffset > 0 {
						blooms++
					}
				}
			}
			if c.bloom != (blooms > 0) {
				t.Errorf("%s.%s has %d bloom filters", d.name, name, blooms)
			}
			for path, n := range pages {
				if n < 2 {
					t.Errorf("%s.%s: column %s has at most %d page in a row group", d.name, name, path, n)
				}
			}
		}
	}
	for _, e := range []format.Encoding{
		format.Plain, format.RLE, format.RLEDictionary, format.DeltaBinaryPacked, format.DeltaLengthByteArray,
		format.DeltaByteArray, format.ByteStreamSplit,
	} {
		if !encodings[e] {
			t.Errorf("no column is encoded as %s", e)
		}
	}
}

// TestCompareFindsDifferences plants faults, since a comparison that finds nothing says nothing.
func TestCompareFindsDifferences(t *testing.T) {
	d := nested()
	for i := range d.want {
		if got := d.differences(d.want[i], d.want[i]); len(got) != 1 || got[0] != "other white space" {
			t.Fatalf("row %d differs from itself: %v", i, got)
		}
	}
	digit := bytes.IndexByte(d.want[3], '1')
	wrong := slices.Clone(d.want[3])
	wrong[digit] = '2'
	if got := d.differences(d.want[3], wrong); len(got) != 1 || !strings.HasPrefix(got[0], "column ") {
		t.Errorf("a digit is wrong: %v", got)
	}
	if got := d.differences(d.want[3], []byte("[1,2]")); len(got) != 1 || !strings.Contains(got[0], "2 columns, want") {
		t.Errorf("columns are missing: %v", got)
	}
	if got := d.differences(d.want[3], []byte("[1,")); len(got) != 1 {
		t.Errorf("a row ends early: %v", got)
	}
}
