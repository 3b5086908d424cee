package parquet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestOtherReadersOfJoined lets PyArrow and DuckDB read joined files of the matrix of types and nestings: of parts with
// equal, different and no dictionaries, of both versions of pages.
func TestOtherReadersOfJoined(t *testing.T) {
	python := os.Getenv("FIRN_PYTHON")
	if python == "" {
		t.Skip("FIRN_PYTHON does not name a python3 with pyarrow and duckdb")
	}
	dir := t.TempDir()
	codecs := []Codec{CodecNone, CodecSnappy, CodecGzip, CodecZstd, CodecLZ4Raw}
	for i, c := range matrix() {
		rows := repeat(c.rows, 40)
		backwards := slices.Clone(rows)
		slices.Reverse(backwards)
		var parts []Part
		for k, part := range [][][]any{rows, backwards, rows, rows} {
			o := Options{Codec: codecs[i%len(codecs)], PageVersion: 1 + (i+k)/2%2, PageRowsMax: 15,
				DictionaryBytesMax: (k + 1) % 4 << 10, PageChecksums: k%2 == 0}
			parts = append(parts, partOf(t, c.schema, part, o))
		}
		data, _ := joinParts(t, c.schema, parts, Options{DictionaryBytesMax: 1 << 10, Codec: codecs[i%len(codecs)]})
		writeCase(t, filepath.Join(dir, fmt.Sprintf("%03d", i)), c.schema, slices.Concat(rows, backwards, rows, rows), data)
	}
	out, err := exec.Command(python, "testdata/read.py", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
