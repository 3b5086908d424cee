package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icebergsql "github.com/apache/iceberg-go/catalog/sql"

	_ "modernc.org/sqlite" // the driver named sqlite, without cgo
)

// openSQL opens a catalog in a SQLite file. The warehouse of the config is made absolute in place.
func openSQL(ctx context.Context, config *CatalogConfig) (catalog.Catalog, *sql.DB, error) {
	path, err := sqlitePath(config.URI)
	if err != nil {
		return nil, nil, err
	}
	if err := setWarehouse(config); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, nil, fmt.Errorf("making the folder of the catalog's database: %w", err)
	}
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		return nil, nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("opening SQLite database %s: %w", path, err), db.Close())
	}
	c, err := icebergsql.NewCatalog(config.Name, db, icebergsql.SQLite, catalogProperties(*config))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("preparing SQLite database %s: %w", path, err), db.Close())
	}
	return c, db, nil
}

// Missing tells whether the catalog is a SQLite file that is not there yet, which opening it would make.
func (c CatalogConfig) Missing() (bool, error) {
	if c.Type != "sql" {
		return false, nil
	}
	path, err := sqlitePath(c.URI)
	if err != nil {
		return false, err
	}
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// sqliteDSN asks for a write-ahead log, so that readers do not stop the writer, and for waiting on a lock instead of
// failing at once. 10 s is far above the length of one catalog transaction (milliseconds).
func sqliteDSN(path string) string {
	options := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)"}}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String()
}

// sqlitePath takes a path, or a URL as SQLAlchemy and so PyIceberg write it: three slashes before a relative path,
// four before an absolute one.
func sqlitePath(uri string) (string, error) {
	path := uri
	switch scheme, rest, ok := strings.Cut(uri, ":"); {
	case !ok || strings.Contains(scheme, "/"): // a path
	case scheme == "sqlite" && strings.HasPrefix(rest, "///"):
		path = rest[len("///"):]
	case scheme == "file" && strings.HasPrefix(rest, "/"):
		path = "/" + strings.TrimLeft(rest, "/")
	default:
		return "", fmt.Errorf("uri %q of a sql catalog is not a SQLite file: write a path, sqlite:///relative.db or "+
			"sqlite:////absolute.db (other databases are not supported: put a rest catalog before them)", uri)
	}
	if path == "" || path == ":memory:" {
		return "", fmt.Errorf("uri %q of a sql catalog names no file: a catalog in memory would be lost with the "+
			"process", uri)
	}
	return filepath.Abs(path)
}

// setWarehouse makes a local warehouse absolute with scheme file, so that the paths in the table's metadata mean the
// same to every reader.
func setWarehouse(config *CatalogConfig) error {
	path, local, err := localWarehouse(config.Warehouse)
	if err != nil || !local {
		return err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("making warehouse folder: %w", err)
	}
	config.Warehouse = "file://" + path
	return nil
}

// localWarehouse is the absolute path of a warehouse on this machine, or false for one that is elsewhere.
func localWarehouse(warehouse string) (string, bool, error) {
	if warehouse == "" {
		return "", false, errors.New("the catalog has no warehouse: set it to a path, s3://bucket/prefix or " +
			"gs://bucket/prefix")
	}
	path := warehouse
	if scheme, rest, ok := strings.Cut(warehouse, "://"); ok {
		if scheme != "file" {
			return "", false, nil
		}
		path = rest
	} else if rest, ok := strings.CutPrefix(warehouse, "file:"); ok {
		path = rest
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false, fmt.Errorf("resolving warehouse path %s: %w", warehouse, err)
	}
	if abs == "/" {
		return "", false, errors.New("the warehouse is the root folder: give it one of its own")
	}
	return abs, true, plainPath(abs)
}

// plainPath refuses characters that are escaped in a URL. Readers disagree whether %20 in a file path of the metadata
// is a space: Java, Spark, DuckDB and PyIceberg take it as it stands, the library beneath firn decodes it.
func plainPath(path string) error {
	if escaped := (&url.URL{Path: path}).EscapedPath(); escaped != path {
		return fmt.Errorf("path %q holds characters that other Iceberg readers would not find again (they become %q): "+
			"use letters, digits, - _ . and / only", path, escaped)
	}
	return nil
}

// catalogProperties is what the catalog and the stores of its tables are told.
func catalogProperties(config CatalogConfig) iceberg.Properties {
	properties := iceberg.Properties{}
	maps.Copy(properties, config.Properties)
	if config.Warehouse != "" {
		properties["warehouse"] = config.Warehouse
	}
	return properties
}
