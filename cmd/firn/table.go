package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"firn/internal/job"
	"firn/internal/table"
	"firn/internal/wire"
)

// tableOptions say which table of which catalog.
type tableOptions struct {
	JobFile    string
	Catalog    job.Catalog
	Properties []string // key=value
}

func newTableCommand(g *globalOptions) *cobra.Command {
	o := &tableOptions{}
	cmd := &cobra.Command{
		Use:   "table",
		Short: "Look into an Iceberg table, and keep it small",
		Long: `Look into an Iceberg table and at what jobs wrote there, which changes nothing, and remove from it what is no
longer needed.

The catalog is that of a job file (--job), or is given by --catalog-type, --catalog-uri and --warehouse. The secrets
of a REST catalog are read from FIRN_CATALOG_CREDENTIAL (client id:secret) or FIRN_CATALOG_TOKEN.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o.addFlags(cmd)
	cmd.AddCommand(newTablePeekCommand(g, o), newTableFilesCommand(g, o), newTableSnapshotsCommand(g, o),
		newTableAuditCommand(g, o), newTableExpireCommand(g, o), newTableOrphansCommand(g, o),
		newTableRewriteManifestsCommand(g, o), newTableCompactCommand(g, o))
	return cmd
}

// addFlags adds the flags that say which table of which catalog, to a command and those below it.
func (o *tableOptions) addFlags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&o.JobFile, "job", "", "job `file` that names the catalog and the table")
	f.StringVar(&o.Catalog.Type, "catalog-type", "", "`type`: rest, sql or hadoop, in place of --job")
	f.StringVar(&o.Catalog.URI, "catalog-uri", "", "`URL` of a REST catalog, or SQLite file of an sql one")
	f.StringVar(&o.Catalog.Warehouse, "warehouse", "", "`place` where an sql or hadoop catalog keeps its tables")
	f.StringVar(&o.Catalog.Name, "catalog-name", "default", "`name` by which an sql catalog keys its tables")
	f.StringArrayVar(&o.Properties, "catalog-property", nil, "`KEY=VALUE` for the catalog and the store; may be repeated")
}

// target is a table to open, and the job that names it, if one does.
type target struct {
	catalog job.Catalog
	ident   string
	job     *job.Job // nil without --job
}

func (o *tableOptions) target(g *globalOptions, args []string) (target, error) {
	t := target{catalog: o.Catalog}
	switch {
	case o.JobFile != "" && o.Catalog.Type != "":
		return target{}, usageError{errors.New("give --job or --catalog-type, not both")}
	case o.JobFile != "":
		j, err := loadFile(o.JobFile, g.Env)
		if err != nil {
			return target{}, err
		}
		t.job, t.catalog, t.ident = j, j.Sink.Iceberg.Catalog, j.Sink.Iceberg.Table
	case o.Catalog.Type == "":
		return target{}, usageError{errors.New("say which catalog: --job JOB.yaml, or --catalog-type with --catalog-uri " +
			"and --warehouse")}
	default:
		if err := whole(t.catalog); err != nil {
			return target{}, usageError{err}
		}
		properties, err := keyValues(o.Properties)
		if err != nil {
			return target{}, err
		}
		t.catalog.Properties = properties
		t.catalog.Credential = job.Secret(g.Env("FIRN_CATALOG_CREDENTIAL"))
		t.catalog.Token = job.Secret(g.Env("FIRN_CATALOG_TOKEN"))
	}
	if len(args) > 0 {
		t.ident = args[0]
	}
	if !strings.Contains(t.ident, ".") {
		return target{}, usageError{errors.New("say which table: NAMESPACE.TABLE, such as shop.orders")}
	}
	return t, nil
}

// whole tells what is missing of a catalog that the flags name.
func whole(c job.Catalog) error {
	need := func(flag, value string) error {
		if value == "" {
			return fmt.Errorf("--catalog-type %s needs %s", c.Type, flag)
		}
		return nil
	}
	switch c.Type {
	case "rest":
		return need("--catalog-uri", c.URI)
	case "sql":
		return errors.Join(need("--catalog-uri", c.URI), need("--warehouse", c.Warehouse))
	case "hadoop":
		return need("--warehouse", c.Warehouse)
	default:
		return fmt.Errorf("--catalog-type %s is not known: use rest, sql or hadoop", c.Type)
	}
}

func keyValues(pairs []string) (map[string]string, error) {
	m := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usageError{fmt.Errorf("--catalog-property %s: want key=value", pair)}
		}
		m[key] = value
	}
	return m, nil
}

// with opens the table, calls do and closes the catalog.
func (o *tableOptions) with(
	ctx context.Context, g *globalOptions, args []string, do func(*table.Table, target) error,
) (err error) {
	t, err := o.target(g, args)
	if err != nil {
		return err
	}
	if err := exists(t.catalog); err != nil {
		return err
	}
	c, err := wire.OpenCatalog(ctx, t.catalog, slog.New(slog.NewTextHandler(g.Stderr, &slog.HandlerOptions{
		Level: slog.LevelWarn,
	})))
	if err != nil {
		return reached(err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	loaded, err := c.Load(ctx, t.ident)
	if errors.Is(err, table.ErrNoTable) {
		return missing(c, t)
	}
	if err != nil {
		return reached(err)
	}
	return do(loaded, t)
}

// exists refuses to look into a SQLite file that is not there: opening it would make one.
func exists(c job.Catalog) error {
	if c.Type != "sql" || strings.Contains(c.URI, ":") {
		return nil
	}
	if _, err := os.Stat(c.URI); errors.Is(err, fs.ErrNotExist) {
		return missingCatalogError{c.URI}
	}
	return nil
}

// missingCatalogError is a SQLite file that is not there, and so has no table either.
type missingCatalogError struct{ uri string }

func (e missingCatalogError) Error() string {
	return fmt.Sprintf("catalog %s does not exist; correct --catalog-uri, or uri in the job file", e.uri)
}

func (e missingCatalogError) Unwrap() error { return table.ErrNoTable }

// missing says what to look at when there is no such table: nothing will make it here.
func missing(c *table.Catalog, t target) error {
	do := "check its name"
	if t.catalog.Type == "sql" {
		do += ", and the catalog's (--catalog-name), by which an sql catalog keys its tables"
	}
	return fmt.Errorf("%w: %s in catalog %s; %s", table.ErrNoTable, t.ident, c, do)
}

// reached tells a catalog that does not answer from one that says no, for the exit code.
func reached(err error) error {
	if _, ok := errors.AsType[net.Error](err); ok {
		return fmt.Errorf("the catalog %w: %w; check the address and that it is up", wire.ErrUnreachable, err)
	}
	return err
}
