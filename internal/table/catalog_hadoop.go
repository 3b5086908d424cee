package table

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/io/gocloud/blobfs"
	icebergtable "github.com/apache/iceberg-go/table"
)

// openHadoop opens a catalog that is nothing but a folder, or a prefix of an object store.
func openHadoop(ctx context.Context, config *CatalogConfig, log *slog.Logger) (catalog.Catalog, error) {
	path, local, err := localWarehouse(config.Warehouse)
	if err != nil {
		return nil, err
	}
	c := &objectCatalog{
		warehouse: strings.TrimRight(config.Warehouse, "/"), properties: catalogProperties(*config), log: log,
		known: map[string]version{},
	}
	if local {
		c.warehouse, c.objects = path, folderObjects{path}
	} else if c.objects, err = openBucket(ctx, c.warehouse, c.properties); err != nil {
		return nil, err
	}
	properties := catalogProperties(*config)
	properties["allow-unsafe-commits"] = "true" // it is not asked to commit
	c.Catalog, err = hadoop.NewCatalog(config.Name, c.warehouse, properties)
	if err != nil {
		return nil, errors.Join(err, c.objects.close())
	}
	return c, nil
}

// objectCatalog is a hadoop catalog in an object store or a folder. A table is the objects of a prefix, and its
// versions are metadata/v1.metadata.json, v2 and so on; the highest is the table. A commit puts the next version on the
// condition that there is none, which S3 (If-None-Match), GCS (ifGenerationMatch=0) and file systems (link) do
// atomically, so that of those who build on one version exactly one lands.
//
// The library's own hadoop catalog is not used to commit. It renames a file to a claim and the claim to the version;
// object stores have no rename, and a claim counts as stale after a minute by the clock of whoever looks. Two writers
// then hold one claim, and the slower one publishes the faster one's content as its own.
//
// Old versions may be deleted (write.metadata.delete-after-commit.enabled), so that a writer which slept could find
// the name of its next version free again, far below the head. Hence every commit looks for higher versions after the
// fact: see verify.
//
// It is safe for concurrent use.
type objectCatalog struct {
	*hadoop.Catalog // for what commits nothing: lists, dropping

	objects    objects
	warehouse  string // with scheme, without a slash at the end
	properties iceberg.Properties
	log        *slog.Logger

	mu          sync.Mutex         // guards the fields below, never held over a request
	known       map[string]version // by table: the last one seen, to not read it again
	conditional bool               // the store was seen to honour the condition of a put
}

func openBucket(ctx context.Context, warehouse string, properties iceberg.Properties) (objects, error) {
	scheme, rest, _ := strings.Cut(warehouse, "://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if scheme != "s3" && scheme != "gs" || bucket == "" {
		return nil, fmt.Errorf("warehouse %q of a hadoop catalog is neither a path nor s3://BUCKET/PATH nor "+
			"gs://BUCKET/PATH", warehouse)
	}
	// The client lives as long as the catalog, not as long as the call that opens it.
	files, err := iceio.LoadFS(context.WithoutCancel(ctx), properties, warehouse)
	if err != nil {
		return nil, err
	}
	blobs, ok := files.(*blobfs.FileIO)
	if !ok {
		return nil, fmt.Errorf("the store of %s is a %T, which has no conditional puts", warehouse, files)
	}
	return bucketObjects{blobs.Bucket, prefix}, nil
}

// Close implements catalog.Closer.
func (c *objectCatalog) Close() error {
	return errors.Join(c.Catalog.Close(), c.objects.close())
}

// CheckNamespaceExists is always true: a namespace is the beginning of a name, and is there once a table uses it.
func (c *objectCatalog) CheckNamespaceExists(context.Context, icebergtable.Identifier) (bool, error) {
	return true, nil
}

// CreateNamespace does nothing; see CheckNamespaceExists.
func (c *objectCatalog) CreateNamespace(context.Context, icebergtable.Identifier, iceberg.Properties) error {
	return nil
}

// CheckTableExists implements catalog.Catalog.
func (c *objectCatalog) CheckTableExists(ctx context.Context, ident icebergtable.Identifier) (bool, error) {
	_, err := c.newest(ctx, ident)
	if errors.Is(err, catalog.ErrNoSuchTable) {
		return false, nil
	}
	return err == nil, err
}

// LoadTable implements catalog.Catalog.
func (c *objectCatalog) LoadTable(ctx context.Context, ident icebergtable.Identifier) (*icebergtable.Table, error) {
	v, err := c.newest(ctx, ident)
	if err != nil {
		return nil, err
	}
	return c.tableOf(ident, v), nil
}

func (c *objectCatalog) tableOf(ident icebergtable.Identifier, v version) *icebergtable.Table {
	at := c.uri(v.key(ident))
	return icebergtable.New(slices.Clone(ident), v.metadata, at, iceio.LoadFSFunc(c.properties, at), c)
}

// uri is the location of an object, or of a table, as metadata has it.
func (c *objectCatalog) uri(key string) string { return c.warehouse + "/" + key }

// CreateTable implements catalog.Catalog.
func (c *objectCatalog) CreateTable(
	ctx context.Context, ident icebergtable.Identifier, schema *iceberg.Schema, options ...catalog.CreateTableOpt,
) (*icebergtable.Table, error) {
	config := catalog.NewCreateTableCfg()
	for _, option := range options {
		option(&config)
	}
	location := c.uri(strings.Join(ident, "/"))
	if config.Location != "" && config.Location != location {
		return nil, fmt.Errorf("a hadoop catalog keeps the table at %s, not at %s", location, config.Location)
	}
	switch exists, err := c.CheckTableExists(ctx, ident); {
	case err != nil:
		return nil, err
	case exists:
		return nil, fmt.Errorf("%w: %s", catalog.ErrTableAlreadyExists, strings.Join(ident, "."))
	}
	if err := c.requireConditions(ctx, ident); err != nil {
		return nil, err
	}
	m, err := icebergtable.NewMetadata(schema, config.PartitionSpec, config.SortOrder, location, config.Properties)
	if err != nil {
		return nil, err
	}
	v := version{number: 1, metadata: m}
	if err := c.publish(ctx, ident, v, catalog.ErrTableAlreadyExists); err != nil {
		return nil, err
	}
	return c.tableOf(ident, v), nil
}

// CommitTable implements catalog.Catalog. What it does not return as ErrCommitFailed or ErrUnsafe may have landed, or
// land later.
func (c *objectCatalog) CommitTable(
	ctx context.Context, ident icebergtable.Identifier, reqs []icebergtable.Requirement, updates []icebergtable.Update,
) (icebergtable.Metadata, string, error) {
	if err := c.requireConditions(ctx, ident); err != nil {
		return nil, "", err
	}
	base, err := c.newest(ctx, ident)
	if err != nil {
		return nil, "", err
	}
	for _, r := range reqs {
		if err := r.Validate(base.metadata); err != nil {
			return nil, "", err
		}
	}
	m, err := icebergtable.UpdateTableMetadata(base.metadata, updates, c.uri(base.key(ident)))
	if err != nil {
		return nil, "", fmt.Errorf("applying the updates: %w", err)
	}
	if m.Location() != base.metadata.Location() {
		return nil, "", errors.New("the location of a table in a hadoop catalog cannot be changed")
	}
	next := version{number: base.number + 1, gzip: codec(base.metadata) == codecGzip, metadata: m}
	if err := c.publish(ctx, ident, next, icebergtable.ErrCommitFailed); err != nil {
		return nil, "", err
	}
	return m, c.uri(next.key(ident)), nil
}
