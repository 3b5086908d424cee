package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icebergtable "github.com/apache/iceberg-go/table"
)

// CreateConfig is a table to be made.
type CreateConfig struct {
	Schema    *record.Schema // field ids are assigned anew
	Partition []string       // see ParsePartitionField; empty for an unpartitioned table
	// Properties are the table's. Unless set, format-version is 2, and manifests are merged and old metadata files
	// deleted as the table is committed to.
	Properties map[string]string
	Location   string // empty: the catalog's choice
}

// Create returns the table, and makes it and its namespace first when they are missing. Of several that create the
// same table at once one makes it and the others load it; an existing table is returned as it is.
func (c *Catalog) Create(ctx context.Context, ident string, config CreateConfig) (*Table, error) {
	t, err := c.load(ctx, ident)
	if err == nil {
		return t, nil
	}
	if !errors.Is(err, catalog.ErrNoSuchTable) && !errors.Is(err, catalog.ErrNoSuchNamespace) {
		return nil, c.explain("loading", ident, err)
	}
	if err := c.create(ctx, ident, config); err != nil {
		return nil, c.explain("making", ident, err)
	}
	return c.Load(ctx, ident)
}

// create makes the table; that another did meanwhile is no error.
func (c *Catalog) create(ctx context.Context, ident string, config CreateConfig) error {
	parts, err := splitIdent(ident)
	if err != nil {
		return err
	}
	if config.Schema == nil {
		return errors.New("no schema is given: state the columns of the new table")
	}
	fresh := freshIDs(config.Schema)
	schema, options, err := c.createOptions(parts, fresh, config)
	if err != nil {
		return err
	}
	if err := c.createNamespace(ctx, catalog.NamespaceFromIdent(parts)); err != nil {
		return err
	}
	if _, err = c.inner().CreateTable(ctx, parts, schema, options...); err == nil {
		c.log.Info("made table", "table", ident, "partition", config.Partition)
		return nil
	}
	// Catalogs answer a lost race in many ways, up to an internal error of their database.
	if exists, _ := c.inner().CheckTableExists(ctx, parts); exists {
		return nil
	}
	return err
}

func (c *Catalog) createOptions(
	parts icebergtable.Identifier, fresh *record.Schema, config CreateConfig,
) (*iceberg.Schema, []catalog.CreateTableOpt, error) {
	schema, err := icebergSchema(fresh)
	if err != nil {
		return nil, nil, err
	}
	spec, err := partitionSpec(config.Partition, fresh, schema)
	if err != nil {
		return nil, nil, err
	}
	properties, err := createProperties(config.Properties, fresh)
	if err != nil {
		return nil, nil, err
	}
	options := []catalog.CreateTableOpt{catalog.WithPartitionSpec(spec), catalog.WithProperties(properties)}
	location, err := c.location(parts, config.Location)
	if err != nil {
		return nil, nil, err
	}
	if location != "" {
		options = append(options, catalog.WithLocation(location))
	}
	return schema, options, nil
}

func createProperties(given map[string]string, s *record.Schema) (iceberg.Properties, error) {
	properties := iceberg.Properties{
		icebergtable.PropertyFormatVersion: "2",
		// A commit a second would otherwise leave a manifest and a metadata.json a second.
		icebergtable.ManifestMergeEnabledKey:             "true",
		icebergtable.MetadataDeleteAfterCommitEnabledKey: "true",
	}
	maps.Copy(properties, given)
	switch v := properties[icebergtable.PropertyFormatVersion]; v {
	case "3":
	case "2":
		if field := needsV3("", s.Fields); field != "" {
			return nil, fmt.Errorf("field %s: nanosecond timestamps need the table property format-version: 3", field)
		}
	default:
		return nil, fmt.Errorf("table property format-version is %q: 2 and 3 are supported", v)
	}
	return properties, nil
}

// location is where the table goes, or "" for the catalog's own choice. Below a warehouse that firn manages it is
// warehouse/namespace/table, as Iceberg's own JDBC catalog has it.
func (c *Catalog) location(parts icebergtable.Identifier, given string) (string, error) {
	if c.config.Type == "hadoop" {
		if given != "" {
			return "", errors.New("a hadoop catalog chooses the location of its tables: leave location out")
		}
		return "", plainPath(strings.Join(parts, "/"))
	}
	if given == "" && c.config.Type == "sql" {
		given = strings.TrimRight(c.config.Warehouse, "/") + "/" + strings.Join(parts, "/")
	}
	if given == "" || strings.Contains(given, "://") && !strings.HasPrefix(given, "file:") {
		return given, nil
	}
	path, _, err := localWarehouse(given)
	return "file://" + path, err
}

// createNamespace makes every level that is missing.
func (c *Catalog) createNamespace(ctx context.Context, namespace icebergtable.Identifier) error {
	if exists, err := c.hasNamespace(ctx, namespace); exists || err != nil {
		return err
	}
	for n := 1; n <= len(namespace); n++ {
		level := namespace[:n]
		exists, err := c.hasNamespace(ctx, level)
		if err != nil {
			return err
		}
		if exists {
			continue
		}
		err = c.inner().CreateNamespace(ctx, level, iceberg.Properties{})
		if err == nil {
			continue
		}
		if exists, _ := c.hasNamespace(ctx, level); !exists { // as with a table: another may have been first
			return fmt.Errorf("making namespace %s: %w", strings.Join(level, "."), err)
		}
	}
	return nil
}

func (c *Catalog) hasNamespace(ctx context.Context, namespace icebergtable.Identifier) (bool, error) {
	exists, err := c.inner().CheckNamespaceExists(ctx, namespace)
	if err != nil && !errors.Is(err, catalog.ErrNoSuchNamespace) {
		return false, fmt.Errorf("looking for namespace %s: %w", strings.Join(namespace, "."), err)
	}
	return exists && err == nil, nil
}
