package parquet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqgo "github.com/parquet-go/parquet-go"

	"firn/internal/record"
)

// TestRowReaderForeign reads files of arrow-go.
func TestRowReaderForeign(t *testing.T) {
	s, rows := foreignSchema(), foreignRows(3, 2500)
	for name, properties := range map[string][]apache.WriterProperty{
		"default":     nil,
		"v2":          {apache.WithDataPageVersion(apache.DataPageV2), apache.WithBatchSize(64)},
		"plain":       {apache.WithDictionaryDefault(false), apache.WithCompression(compress.Codecs.Zstd)},
		"brotli":      {apache.WithCompression(compress.Codecs.Brotli), apache.WithDataPageSize(900)},
		"small pages": {apache.WithDataPageSize(900), apache.WithBatchSize(64), apache.WithPageIndexEnabled(true)},
		"groups":      {apache.WithMaxRowGroupLength(700), apache.WithCompression(compress.Codecs.Snappy)},
		"a dictionary that is given up": {apache.WithDictionaryPageSizeLimit(200), apache.WithDataPageSize(500),
			apache.WithBatchSize(10)},
	} {
		t.Run(name, func(t *testing.T) {
			part := foreignPart(t, rows, properties...)
			data := make([]byte, part.SizeBytes)
			if _, err := part.Bytes.ReadAt(data, 0); err != nil {
				t.Fatal(err)
			}
			for _, batch := range []int{0, 100} {
				checkRows(t, s, rows, data, RowReaderOptions{BatchRows: batch})
			}
		})
	}
}

// TestRowReaderOfPyArrow has PyArrow write the matrix of types and nestings anew in every way that it knows.
func TestRowReaderOfPyArrow(t *testing.T) {
	python := os.Getenv("FIRN_PYTHON")
	if python == "" {
		t.Skip("FIRN_PYTHON does not name a python3 with pyarrow and duckdb")
	}
	dir := t.TempDir()
	all := make(map[string][][]any)
	for i, c := range matrix() {
		rows := repeat(c.rows, 1+i%3*100)
		data, _ := writeFile(t, c.schema, rows, Options{}, 50)
		name := fmt.Sprintf("%03d", i)
		all[name] = rows
		if err := os.WriteFile(filepath.Join(dir, name+".parquet"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "testdata/rewrite.py", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	for i, c := range matrix() {
		name := fmt.Sprintf("%03d", i)
		paths, err := filepath.Glob(filepath.Join(dir, name+".*.rewritten"))
		if err != nil || len(paths) < 3 {
			t.Fatalf("%d files of case %s, error %v", len(paths), name, err)
		}
		for _, path := range slices.Sorted(slices.Values(paths)) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(c.name+" "+filepath.Base(path), func(t *testing.T) {
				checkRows(t, c.schema, all[name], data, RowReaderOptions{BatchRows: 33})
			})
		}
	}
}

// TestRowReaderWithoutIDs says that a file has no field ids.
func TestRowReaderWithoutIDs(t *testing.T) {
	type row struct {
		ID int64 `parquet:"id"`
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := pqgo.WriteFile(path, []row{{1}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "id", Type: record.Type{Kind: record.KindLong}}}}
	want := "column id has no field id"
	if err := rowsFail(t, s, data); !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
