package table

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/apache/iceberg-go/catalog"
	icebergtable "github.com/apache/iceberg-go/table"

	_ "github.com/apache/iceberg-go/io/gocloud" // s3://, gs:// and abfs:// for every table
)

// CatalogConfig says which Iceberg catalog to open.
type CatalogConfig struct {
	Name       string            // a sql catalog keys its tables by it; default "firn"
	Type       string            // rest, sql or hadoop
	URI        string            // rest: URL; sql: a SQLite file, or sqlite:///relative, sqlite:////absolute
	Warehouse  string            // sql, hadoop: where tables go: a path, file://, s3:// or gs://; rest: its name there
	Credential string            // rest: OAuth2 client id:secret
	Token      string            // rest: bearer token
	Properties map[string]string // to the catalog and the stores: s3.endpoint, header.X, ...
}

// Catalog is an open catalog. It is safe for concurrent use.
type Catalog struct {
	config CatalogConfig
	log    *slog.Logger
	db     *sql.DB // of a sql catalog, else nil

	loginMu sync.Mutex // held over a fresh login; taken before mu
	loginAt time.Time  // of the last one; guarded by loginMu

	mu      sync.RWMutex // guards current
	current catalog.Catalog
}

// ErrNoTable says that the catalog has no such table.
var ErrNoTable = errors.New("no such table")

// OpenCatalog connects to a catalog; for sql and hadoop it makes the folders that are missing. A nil log discards.
// The caller closes the catalog.
func OpenCatalog(ctx context.Context, config CatalogConfig, log *slog.Logger) (*Catalog, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	config.Name = cmp.Or(config.Name, "firn")
	c := &Catalog{config: config, log: log.With("catalog", config.Name)}
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("opening catalog %s: %w", c, err)
	}
	return c, nil
}

func (c *Catalog) open(ctx context.Context) error {
	var err error
	switch c.config.Type {
	case "rest":
		c.current, err = openREST(ctx, c.config)
	case "sql":
		c.current, c.db, err = openSQL(ctx, &c.config)
	case "hadoop":
		c.current, err = openHadoop(ctx, &c.config, c.log)
	default:
		err = fmt.Errorf("type %q is not known: set it to rest, sql or hadoop", c.config.Type)
	}
	return err
}

// String names the catalog for messages, without secrets.
func (c *Catalog) String() string {
	at := cmp.Or(c.config.URI, c.config.Warehouse)
	return fmt.Sprintf("%s (%s %s)", c.config.Name, c.config.Type, withoutUserinfo(at))
}

var userinfo = regexp.MustCompile(`://[^/@]*@`)

func withoutUserinfo(uri string) string { return userinfo.ReplaceAllString(uri, "://") }

// Close lets go of connections. Tables of the catalog must not be used afterwards.
func (c *Catalog) Close() error {
	var faults []error
	if closer, ok := c.inner().(catalog.Closer); ok {
		faults = append(faults, closer.Close())
	}
	if c.db != nil {
		faults = append(faults, c.db.Close())
	}
	return errors.Join(faults...)
}

func (c *Catalog) inner() catalog.Catalog {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.current
}

// Load reads a table's current metadata. The identifier is namespace.table; the namespace may have several levels.
// A missing table is ErrNoTable.
func (c *Catalog) Load(ctx context.Context, ident string) (*Table, error) {
	t, err := c.load(ctx, ident)
	if err != nil {
		return nil, c.explain("loading", ident, err)
	}
	return t, nil
}

// load leaves the catalog's own error in place, for the commit loop to judge.
func (c *Catalog) load(ctx context.Context, ident string) (*Table, error) {
	parts, err := splitIdent(ident)
	if err != nil {
		return nil, err
	}
	t, err := c.inner().LoadTable(ctx, parts)
	if err != nil {
		return nil, err
	}
	return newTable(c, ident, t)
}

// explain turns the catalog's error into one that says what, where and what to do.
func (c *Catalog) explain(doing, ident string, err error) error {
	if errors.Is(err, catalog.ErrNoSuchTable) || errors.Is(err, catalog.ErrNoSuchNamespace) {
		return fmt.Errorf("%s table %s in catalog %s: %w: make it first, let the job make it (create: true), or "+
			"correct its name", doing, ident, c, ErrNoTable)
	}
	return fmt.Errorf("%s table %s in catalog %s: %w", doing, ident, c, err)
}

// splitIdent wants at least a namespace and a table name.
func splitIdent(ident string) (icebergtable.Identifier, error) {
	parts := strings.Split(ident, ".")
	for _, p := range parts {
		if p == "" || strings.ContainsAny(p, "/\\\x00") {
			return nil, fmt.Errorf("table name %q is not namespace.table: each part needs a name without slashes", ident)
		}
	}
	if len(parts) < 2 {
		return nil, fmt.Errorf("table name %q has no namespace: write namespace.table", ident)
	}
	return parts, nil
}
