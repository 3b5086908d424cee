package upkeep

import (
	"errors"
	"io/fs"
	"testing"

	"firn/internal/record"
)

// A small delete file is read from the store once, and a large one each time.
func TestDeleteCache(t *testing.T) {
	w := newWorld(t)
	w.objects["small"], w.objects["cut"] = []byte("deletes"), []byte("del")
	w.objects["large"] = make([]byte, deleteKeptMax+1)
	c := newDeleteCache(w.open)
	var all []record.DeleteFile
	for path, b := range w.objects {
		all = append(all, record.DeleteFile{Path: path, SizeBytes: int64(len(b))})
	}
	all = append(all, record.DeleteFile{Path: "gone", SizeBytes: 5}, record.DeleteFile{Path: "cut", SizeBytes: 7})
	c.learn(&Head{Files: map[string]record.DeletableFile{"data": {Deletes: all}}})
	for range 3 {
		for _, path := range []string{"small", "large"} {
			f, err := c.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 4)
			if _, err := f.ReadAt(b, 1); err != nil || string(b) != string(w.objects[path][1:5]) {
				t.Errorf("%s: read %q, error %v", path, b, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if w.reads["small"] != 1 || w.reads["large"] != 3 {
		t.Errorf("reads %v", w.reads)
	}
	if _, err := c.Open(t.Context(), "gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v for a file that is gone", err)
	}
	if _, err := c.Open(t.Context(), "cut"); err == nil {
		t.Error("no error for a file that is cut")
	}
}
