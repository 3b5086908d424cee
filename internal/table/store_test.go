package table

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"firn/internal/fault"

	iceio "github.com/apache/iceberg-go/io"
	icebergtable "github.com/apache/iceberg-go/table"
)

func TestStore(t *testing.T) {
	table := createTable(t, openCatalog(t, sqlConfig(t)), "db.events")
	testStore(t, table.Store(), table.Location()+"/data/name=a+b/x.parquet")
}

// testStore is the conformance test of a Store.
func testStore(t *testing.T, s Store, path string) {
	ctx := t.Context()
	if _, err := s.Open(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a missing file: error %v, want %v", err, fs.ErrNotExist)
	}
	write(t, s, path, "some", "thing")
	f, err := s.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Size() != 9 {
		t.Errorf("size %d, want 9", f.Size())
	}
	part := make([]byte, 5)
	if _, err := f.ReadAt(part, 4); err != nil || string(part) != "thing" {
		t.Errorf("read %q, %v from offset 4", part, err)
	}
	if _, err := f.Seek(4, io.SeekStart); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(f); err != nil || string(rest) != "thing" {
		t.Errorf("read %q, %v after seeking", rest, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Remove(ctx, path); err != nil {
			t.Errorf("removing: %v", err)
		}
	}
	if _, err := s.Open(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a removed file: error %v, want %v", err, fs.ErrNotExist)
	}
}

func write(t *testing.T, s Store, path string, parts ...string) {
	t.Helper()
	w, err := s.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStoreContext(t *testing.T) {
	table := createTable(t, openCatalog(t, sqlConfig(t)), "db.events")
	s := table.Store()
	path := table.Location() + "/data/x.parquet"
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := w.Write([]byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("writing: error %v, want %v", err, context.Canceled)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Create(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("creating: error %v, want %v", err, context.Canceled)
	}
	write(t, s, path, "the store is still good")
}

// C74: credentials that cannot be renewed are handed out again with the table.
func TestStoreRenewal(t *testing.T) {
	table := createTable(t, openCatalog(t, sqlConfig(t)), "db.events")
	expired := errors.New("the credentials have expired")
	in := table.inner
	table.inner = icebergtable.New(in.Identifier(), in.Metadata(), in.MetadataLocation(),
		func(context.Context) (iceio.IO, error) { return nil, expired }, nil)
	write(t, table.Store(), table.Location()+"/data/x.parquet", "written")
	table.ident = "db.gone"
	if _, err := table.Store().Create(t.Context(), table.Location()+"/data/y.parquet"); !errors.Is(err, expired) {
		t.Errorf("error %v, want %v", err, expired)
	}
}

// A store whose n-th operation fails is a Store too.
func TestStoreFault(t *testing.T) {
	table := createTable(t, openCatalog(t, sqlConfig(t)), "db.events")
	path := table.Location() + "/data/x.parquet"
	testStore(t, fault.Store[File]{Next: table.Store()}, path)
	plan := &fault.Plan{At: 2}
	failing := fault.Store[File]{Next: table.Store(), Plan: plan}
	w, err := failing.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, fault.ErrInjected) {
		t.Errorf("closing: error %v, want %v", err, fault.ErrInjected)
	}
}
