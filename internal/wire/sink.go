package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"firn/internal/cluster"
	"firn/internal/decode"
	"firn/internal/job"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/sink/iceberg"
	"firn/internal/table"
)

// sink is the parts that write one Iceberg table.
type sink struct {
	schema    *record.Schema // of the batches
	writer    *iceberg.Writer
	committer *iceberg.Committer
	care      *care
	scattered bool // rows go to files by partition value
}

// storeTriesMax is how often one file is stored before the job stops; with the writer's back-off it is about half a
// minute.
const storeTriesMax = 8

// sealersMin is how many files are stored at once at least: an object store takes some 50 ms for each, and with one a
// bucket they are all on the way to a commit.
const sealersMin = 8

func (a *Assembly) openSink(ctx context.Context, j *job.Job, log *slog.Logger) (*sink, error) {
	declared, err := DeclaredSchema(j)
	if err != nil {
		return nil, err
	}
	var s *sink
	step := func(ctx context.Context) error {
		s, err = a.openTable(ctx, j, declared, log)
		return err
	}
	if err := reach(ctx, j.Limits.ConnectTimeout, "the "+j.Sink.Iceberg.Catalog.Type+" catalog", log, step); err != nil {
		return nil, err
	}
	return s, nil
}

// openTable opens the catalog, which the assembly closes, and the table in it.
func (a *Assembly) openTable(
	ctx context.Context, j *job.Job, declared *record.Schema, log *slog.Logger,
) (_ *sink, err error) {
	catalog, err := OpenCatalog(ctx, j.Sink.Iceberg.Catalog, log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil { // it may be tried again
			err = errors.Join(err, catalog.Close())
		}
	}()
	t, err := loadOrCreate(ctx, catalog, j, declared)
	if err != nil {
		return nil, err
	}
	schema, err := BatchSchema(j, declared, t.Schema())
	if err != nil {
		return nil, err
	}
	options, err := newParquetOptions(j, t, schema)
	if err != nil {
		return nil, err
	}
	care, err := a.openUpkeep(j, catalog, t, schema, options, log)
	if err != nil {
		return nil, err
	}
	writer, err := newWriter(j, t, schema, options, care)
	if err != nil {
		return nil, err
	}
	committer, err := table.NewCommitter(catalog, j.Sink.Iceberg.Table, j.Name, table.CommitterOptions{
		Fold: cluster.Fold, Timeout: j.Sink.Iceberg.CommitTimeout, Log: log,
	})
	if err != nil {
		return nil, err
	}
	if err := committer.Probe(ctx); err != nil {
		return nil, err
	}
	a.closers = append(a.closers, catalog.Close, care.close)
	return &sink{
		schema: schema, writer: writer, committer: iceberg.NewCommitter(committer, care.expireBy(committer)), care: care,
		scattered: len(t.Partition()) > 0,
	}, nil
}

// loadOrCreate makes the table when it is missing and the job says so.
func loadOrCreate(
	ctx context.Context, catalog *table.Catalog, j *job.Job, declared *record.Schema,
) (*table.Table, error) {
	i := &j.Sink.Iceberg
	t, err := catalog.Load(ctx, i.Table)
	if !errors.Is(err, table.ErrNoTable) || !i.Create {
		return t, err
	}
	if declared == nil {
		return nil, noSchema(i.Table)
	}
	return catalog.Create(ctx, i.Table, table.CreateConfig{
		Schema: declared, Partition: i.Partition, Properties: i.Properties, Location: i.Location,
	})
}

func noSchema(name string) error {
	return fmt.Errorf("table %s does not exist and the job has no decode.schema to make it from: give one, or make the "+
		"table", name)
}

// OpenCatalog opens the catalog that a job names.
func OpenCatalog(ctx context.Context, c job.Catalog, log *slog.Logger) (*table.Catalog, error) {
	return table.OpenCatalog(ctx, catalogConfig(c), log)
}

func catalogConfig(c job.Catalog) table.CatalogConfig {
	return table.CatalogConfig{
		Name: c.Name, Type: c.Type, URI: c.URI, Warehouse: c.Warehouse,
		Credential: c.Credential.Reveal(), Token: c.Token.Reveal(), Properties: c.Properties,
	}
}

// DeclaredSchema is the schema that the job file gives, or nil when it is to be the table's.
func DeclaredSchema(j *job.Job) (*record.Schema, error) {
	d := &j.Decode.Schema
	var schema *record.Schema
	var err error
	switch {
	case d.Avro != "":
		schema, err = decode.SchemaFromAvro([]byte(d.Avro))
	case d.AvroFile != "":
		schema, err = schemaFromFile(d.AvroFile)
	case len(d.Fields) > 0:
		schema, err = schemaFromFields(d.Fields)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading decode.schema: %w", err)
	}
	return project(schema, &j.Decode)
}

func schemaFromFile(path string) (*record.Schema, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode.SchemaFromAvro(text)
}

func schemaFromFields(fields []job.SchemaField) (*record.Schema, error) {
	out := make([]record.Field, len(fields))
	for i, f := range fields {
		t, err := decode.ParseType(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		out[i] = record.Field{Name: f.Name, Required: f.Required, Type: t, Doc: f.Doc}
	}
	return decode.AssignIDs(out), nil
}

// BatchSchema is the columns that are decoded and written: the declared ones with the table's field ids, or without a
// declaration the table's own that the job keeps.
func BatchSchema(j *job.Job, declared, inTable *record.Schema) (*record.Schema, error) {
	from := "decode.schema"
	if declared == nil {
		kept, err := project(inTable, &j.Decode)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", j.Sink.Iceberg.Table, err)
		}
		from, declared = "decode.keep and decode.drop", kept
	}
	schema, err := fit(declared, inTable)
	if err != nil {
		return nil, fmt.Errorf("the schema of the job does not fit table %s:\n%w\nchange %s or the table",
			j.Sink.Iceberg.Table, err, from)
	}
	return schema, nil
}

// newParquetOptions is how data files are encoded, by the job and the table's properties.
func newParquetOptions(j *job.Job, t *table.Table, schema *record.Schema) (parquet.Options, error) {
	compression := j.Sink.Iceberg.Compression
	if compression == "" {
		compression = t.Property("write.parquet.compression-codec")
	}
	if compression == "" {
		compression = "zstd" // Iceberg's default
	}
	codec, err := parquet.ParseCodec(compression)
	if err != nil {
		return parquet.Options{}, err
	}
	options, err := parquetOptions(t.Property, schema, codec)
	options.Pool = parquet.NewPool(DataBytes(j.Limits.Memory) / idleShare)
	return options, err
}

func newWriter(
	j *job.Job, t *table.Table, schema *record.Schema, options parquet.Options, care *care,
) (*iceberg.Writer, error) {
	distribution, err := iceberg.ParseDistribution(j.Sink.Iceberg.Distribution)
	if err != nil {
		return nil, err
	}
	return iceberg.NewWriter(iceberg.Target{
		Schema: schema, Partition: t.Partition(), SpecID: t.SpecID(),
		Create: t.Store().Create, DataPath: t.DataPath,
	}, iceberg.Options{
		Parquet: options, FileBytesMax: int64(j.Sink.Iceberg.TargetFileSize), StoreTriesMax: storeTriesMax,
		SealersMax: max(sealersMin, workers(j)), SealBytesMax: DataBytes(j.Limits.Memory) / sealShare, NewID: newID,
		Distribution: distribution, Writers: workers(j), Keep: care.keep(),
	})
}
