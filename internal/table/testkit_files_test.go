package table

import (
	"testing"

	"github.com/apache/iceberg-go"
)

// dataFiles is the live data files of the table's head.
func dataFiles(t *testing.T, table *Table) []iceberg.DataFile {
	t.Helper()
	head := table.inner.CurrentSnapshot()
	if head == nil {
		return nil
	}
	fs, err := table.inner.FS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := head.Manifests(fs)
	if err != nil {
		t.Fatal(err)
	}
	var files []iceberg.DataFile
	for _, m := range manifests {
		for e, err := range m.Entries(fs, true) {
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, e.DataFile())
		}
	}
	return files
}
