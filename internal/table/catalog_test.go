package table

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSQLitePath(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]string{
		"/a/b.db":              "/a/b.db",
		"b.db":                 here + "/b.db",
		"./x:y/b.db":           here + "/x:y/b.db",
		"sqlite:///b.db":       here + "/b.db",
		"sqlite:////a/b.db":    "/a/b.db",
		"file:///a/b.db":       "/a/b.db",
		"file:/a/b.db":         "/a/b.db",
		"":                     "",
		":memory:":             "",
		"sqlite:///:memory:":   "",
		"sqlite:///":           "",
		"sqlite://b.db":        "",
		"postgres://host/base": "",
		"file:b.db":            "",
	} {
		got, err := sqlitePath(uri)
		if got != want || (err == nil) == (want == "") {
			t.Errorf("%q gives %q, %v; want %q", uri, got, err, want)
		}
	}
}

func TestOpenCatalogFaults(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "db")
	for name, c := range map[string]struct {
		config CatalogConfig
		want   string
	}{
		"no type":            {CatalogConfig{}, `type "" is not known`},
		"unknown type":       {CatalogConfig{Type: "glue"}, `type "glue" is not known`},
		"rest without URL":   {CatalogConfig{Type: "rest", URI: "localhost:8181"}, "not a URL"},
		"rest is down":       {CatalogConfig{Type: "rest", URI: "http://127.0.0.1:1"}, "127.0.0.1:1"},
		"sql no warehouse":   {CatalogConfig{Type: "sql", URI: db}, "no warehouse"},
		"sql root":           {CatalogConfig{Type: "sql", URI: db, Warehouse: "/"}, "root folder"},
		"sql space":          {CatalogConfig{Type: "sql", URI: db, Warehouse: dir + "/my house"}, "my%20house"},
		"sql percent":        {CatalogConfig{Type: "sql", URI: db, Warehouse: dir + "/my%20house"}, "my%2520house"},
		"sql folder as file": {CatalogConfig{Type: "sql", URI: dir, Warehouse: dir}, dir},
		"hadoop on Azure":    {CatalogConfig{Type: "hadoop", Warehouse: "abfs://bucket/w"}, "gs://BUCKET/PATH"},
		"hadoop no bucket":   {CatalogConfig{Type: "hadoop", Warehouse: "gs:///w"}, "gs://BUCKET/PATH"},
		"hadoop nowhere":     {CatalogConfig{Type: "hadoop"}, "no warehouse"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OpenCatalog(t.Context(), c.config, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Passwords in a catalog's URL stay out of messages.
func TestCatalogString(t *testing.T) {
	_, err := OpenCatalog(t.Context(), CatalogConfig{Type: "rest", URI: "http://me:secret@127.0.0.1:1/x"}, nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestWarehouseSpellings(t *testing.T) {
	dir := t.TempDir()
	for _, warehouse := range []string{dir + "/w", "file://" + dir + "/w", "file:" + dir + "/w", dir + "/./w/"} {
		config := CatalogConfig{Type: "sql", URI: dir + "/new/folder/db", Warehouse: warehouse}
		c := openCatalog(t, config)
		table, err := c.Create(t.Context(), "db.events", CreateConfig{Schema: eventSchema()})
		if err != nil {
			t.Fatal(err)
		}
		if want := "file://" + dir + "/w/db/events"; table.Location() != want {
			t.Errorf("warehouse %s: location %s, want %s", warehouse, table.Location(), want)
		}
	}
}

// The table is dropped and made again under the same name: a running job must not go on as if it were the same.
func TestTableReplaced(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		table := startTable(t, c, o.ident)
		k := committer(t, c, o.ident)
		commit(t, k, flush(table, 0, 10))
		if err := c.inner().DropTable(t.Context(), table.inner.Identifier()); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Floor(t.Context()); !errors.Is(err, ErrNoTable) {
			t.Errorf("floor of a dropped table: error %v, want %v", err, ErrNoTable)
		}
		createTable(t, c, o.ident)
		if _, err := k.Floor(t.Context()); !errors.Is(err, ErrReplaced) {
			t.Errorf("floor of another table: error %v, want %v", err, ErrReplaced)
		}
		if _, err := table.Refresh(t.Context()); !errors.Is(err, ErrReplaced) {
			t.Errorf("refresh: error %v, want %v", err, ErrReplaced)
		}
		if f := floorOf(t, committer(t, c, o.ident)); len(f) != 0 {
			t.Errorf("floor of the new table is %v", f)
		}
	})
}
