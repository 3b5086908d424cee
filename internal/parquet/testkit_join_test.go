package parquet

import (
	"bytes"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// partOf writes rows as a file that can be joined.
func partOf(t tb, s *record.Schema, rows [][]any, o Options) Part {
	t.Helper()
	data, d := writeFile(t, s, rows, o, 100)
	return asPart(data, d)
}

func asPart(data []byte, d record.DataFile) Part {
	return Part{Bytes: bytes.NewReader(data), SizeBytes: int64(len(data)), File: d}
}

// joinParts joins parts and checks what is said of the result against its footer.
func joinParts(t tb, s *record.Schema, parts []Part, o Options) ([]byte, Joined) {
	t.Helper()
	var out bytes.Buffer
	joined, err := Join(contextOf(t), &out, parts, JoinOptions{Schema: s, Options: o})
	if err != nil {
		t.Fatal(err)
	}
	checkJoined(t, s, out.Bytes(), joined.File)
	return out.Bytes(), joined
}

// checkJoined compares a description with the footer.
func checkJoined(t tb, s *record.Schema, data []byte, d record.DataFile) {
	t.Helper()
	f, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if d.SizeBytes != int64(len(data)) || d.Rows != f.Rows || d.SchemaID != s.ID {
		t.Fatalf("%d bytes and %d rows of schema %d in the description, %d and %d in the file of schema %d", d.SizeBytes,
			d.Rows, d.SchemaID, len(data), f.Rows, s.ID)
	}
	splits, sizes := []int64(nil), map[int]int64{}
	for _, g := range f.groups {
		splits = append(splits, g.chunks[0].from)
		for i, c := range g.chunks {
			sizes[f.leaves[i].id] += c.size
		}
	}
	if !slices.Equal(splits, d.SplitOffsets) {
		t.Fatalf("split offsets %d in the description, row groups start at %d", d.SplitOffsets, splits)
	}
	for id, size := range sizes {
		if d.ColumnSizes[id] != size {
			t.Fatalf("field %d has %d bytes in the description and %d in the file", id, d.ColumnSizes[id], size)
		}
	}
}

// checkIndexes reads every page through the page index, of all chunks that have one, and returns how many have.
func checkIndexes(t *testing.T, data []byte) int {
	t.Helper()
	f := openFile(t, data)
	indexed := 0
	for g, group := range f.RowGroups() {
		for i, chunk := range group.ColumnChunks() {
			if f.Metadata().RowGroups[g].Columns[i].ColumnIndexOffset == 0 || isDecimal(f, i) {
				continue // parquet-go compares decimals as if they had no sign
			}
			indexed++
			checkPageIndex(t, i, chunk)
		}
	}
	return indexed
}

func isDecimal(f *pq.File, leaf int) bool {
	read, err := ReadFooter(f, f.Size())
	return err == nil && read.leaves[leaf].shape.logical.kind == logicalDecimal
}

// encodingStats is how many pages of a kind and encoding leaf i has in all row groups.
func encodingStats(f *pq.File, leaf int) map[format.PageEncodingStats]int32 {
	out := map[format.PageEncodingStats]int32{}
	for _, g := range f.Metadata().RowGroups {
		for _, s := range g.Columns[leaf].MetaData.EncodingStats {
			n := s.Count
			s.Count = 0
			out[s] += n
		}
	}
	return out
}

// countingReader counts reads and the bytes of them.
type countingReader struct {
	*bytes.Reader
	reads []int
}

func (r *countingReader) ReadAt(b []byte, at int64) (int, error) {
	r.reads = append(r.reads, len(b))
	return r.Reader.ReadAt(b, at)
}
