package bench

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/google/uuid"
	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"firn/internal/decode"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/sink/iceberg"
	"firn/internal/table"
)

const (
	// writeSampleMB is written between two flushes: a quarter of a memory limit that is usual for a job.
	writeSampleMB = 128
	// writeBuckets is what the reference's table has.
	writeBuckets = 64
)

// writeCase is a codec and a number of buckets; one is a table without partitions.
type writeCase struct {
	codec   parquet.Codec
	buckets int
	goal    float64 // 0: none
}

// writeGoalReason is why the goals are what they are.
const writeGoalReason = "a trial of the page writer alone, without the sink around it, reached it on another " +
	"machine (docs/decisions/20261129-own-decoder-and-page-writer.md)"

func writeCases() []writeCase {
	return []writeCase{
		{parquet.CodecNone, 1, 8274}, {parquet.CodecSnappy, 1, 3361}, {parquet.CodecLZ4Raw, 1, 3365},
		{parquet.CodecZstd, 1, 527},
		{parquet.CodecNone, writeBuckets, 2500}, {parquet.CodecZstd, writeBuckets, 0},
	}
}

func writeBenchmark() Benchmark {
	return Benchmark{
		Name: "write", Runs: 5, Summary: "columns into Parquet files in memory, into one or scattered over 64 buckets",
		steps: func(o Options) int { return len(writeCases()) * alternateSteps(o, 2) },
		run: func(ctx context.Context, s *session) ([]Result, error) {
			rows, err := newRows(narrow(), s.amount(writeSampleMB))
			if err != nil {
				return nil, err
			}
			var results []Result
			for _, c := range writeCases() {
				r, err := s.write(ctx, rows, c)
				if err != nil {
					return nil, err
				}
				results = append(results, r)
			}
			return results, nil
		},
	}
}

// rows is decoded messages.
type rows struct {
	schema  *record.Schema
	batches []*record.Batch
	bytes   int64 // of their JSON
	count   int
}

// newRows decodes messages. The buckets of narrow ones are those of a random id.
func newRows(k kind, mb int) (*rows, error) {
	messages, err := newSample(k.template, mb)
	if err != nil {
		return nil, err
	}
	r := &rows{bytes: messages.bytes}
	if r.schema, err = schemaOf(k.columns); err != nil {
		return nil, err
	}
	decoder, err := decode.NewJSON(r.schema, decode.DefaultJSONOptions())
	if err != nil {
		return nil, err
	}
	for _, block := range messages.blocks {
		batch := record.NewBatch(r.schema)
		decoder.Decode(block, batch)
		r.batches = append(r.batches, batch)
		r.count += batch.Rows
	}
	return r, nil
}

// write measures one case, in turn with parquet-go.
func (s *session) write(ctx context.Context, r *rows, c writeCase) (Result, error) {
	var own, other countedFiles
	mine, err := writeWork(ctx, r, c.codec, c.partition(r.schema), &own)
	if err != nil {
		return Result{}, err
	}
	name := "write, " + c.String()
	rates, err := s.alternate(ctx, name, []entrant{
		{"firn", mine}, {"parquet-go", parquetGoWork(r, c, &other)},
	})
	if err != nil {
		return Result{}, err
	}
	speed := s.result(name, unitPerCPU, rates[0], fmt.Sprintf("%d rows a flush, in memory, files thrown away; they are "+
		"%.2f of the size of the JSON", r.count, own.ratio(r)))
	if c.goal > 0 {
		speed.Goal, speed.GoalReason = c.goal, writeGoalReason
	}
	speed.Rival = &Rival{Name: "parquet-go", Value: median(rates[1]), Source: fmt.Sprintf("its generic writer%s "+
		"with this codec (zstd: level better), rows already split, measured in turn with firn by the same command; its "+
		"files are %.2f of the size of the JSON", moduleVersion("github.com/parquet-go/parquet-go"), other.ratio(r))}
	return speed, nil
}

// String names the case.
func (c writeCase) String() string {
	if c.buckets == 1 {
		return c.codec.String() + ", one file"
	}
	return fmt.Sprintf("%s, %d buckets", c.codec, c.buckets)
}

// partition is the table's partitioning.
func (c writeCase) partition(schema *record.Schema) []table.PartitionField {
	if c.buckets == 1 {
		return nil
	}
	return []table.PartitionField{{
		SourceID: schema.Fields[0].ID, FieldID: 1000, Name: "bucket", Transform: "bucket", Param: c.buckets,
		Result: record.Type{Kind: record.KindInt},
	}}
}

// countedFiles throws files away and counts their bytes.
type countedFiles struct{ bytes, flushes int64 }

// Write implements io.Writer.
func (f *countedFiles) Write(p []byte) (int, error) {
	f.bytes += int64(len(p))
	return len(p), nil
}

// Close implements io.Closer.
func (f *countedFiles) Close() error { return nil }

// ratio is the size of the files of a flush as a part of the JSON.
func (f *countedFiles) ratio(r *rows) float64 {
	return float64(f.bytes) / float64(max(f.flushes, 1)) / float64(r.bytes)
}

// writeWork writes all rows by the Iceberg sink and flushes them.
func writeWork(
	ctx context.Context, r *rows, codec parquet.Codec, partition []table.PartitionField, files *countedFiles,
) (work, error) {
	const idleBytes = 64 << 20 // as a job with the default memory limit
	options := parquet.DefaultOptions()
	options.Codec, options.Pool = codec, parquet.NewPool(idleBytes)
	writer, err := iceberg.NewWriter(iceberg.Target{
		Schema: r.schema, Partition: partition,
		Create:   func(context.Context, string) (io.WriteCloser, error) { return files, nil },
		DataPath: func(_ []record.PartitionValue, file string) (string, error) { return file, nil },
	}, iceberg.Options{
		Parquet: options, FileBytesMax: 256e6, SealersMax: 1, StoreTriesMax: 1,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
	})
	if err != nil {
		return nil, err
	}
	return func() (int64, error) {
		for _, batch := range r.batches {
			if err := writer.Write(ctx, batch); err != nil {
				return 0, err
			}
		}
		files.flushes++
		_, err := writer.Rotate().Seal(ctx)
		return r.bytes, err
	}, nil
}

// parquetGoRow is a row of the rival.
type parquetGoRow struct {
	LogStreamID int64  `parquet:"logStreamId"`
	Message     string `parquet:"message"`
}

// parquetGoWork writes the same rows by parquet-go, one writer a bucket. The rows are split beforehand, which the sink
// does as it goes.
func parquetGoWork(r *rows, c writeCase, files *countedFiles) work {
	split := make([][]parquetGoRow, c.buckets)
	for _, batch := range r.batches {
		ids, texts := batch.Columns[0].Ints64, batch.Columns[1].Bytes
		for i := range batch.Rows {
			bucket := int(ids[i]) % c.buckets
			split[bucket] = append(split[bucket], parquetGoRow{ids[i], string(texts[i])})
		}
	}
	writers := make([]*parquetgo.GenericWriter[parquetGoRow], c.buckets)
	for i := range writers {
		writers[i] = parquetgo.NewGenericWriter[parquetGoRow](files, parquetgo.Compression(parquetGoCodec(c.codec)))
	}
	return func() (int64, error) {
		files.flushes++
		for i, w := range writers {
			w.Reset(files)
			if _, err := w.Write(split[i]); err != nil {
				return 0, err
			}
			if err := w.Close(); err != nil {
				return 0, err
			}
		}
		return r.bytes, nil
	}
}

func parquetGoCodec(c parquet.Codec) compress.Codec {
	switch c {
	case parquet.CodecSnappy:
		return &parquetgo.Snappy
	case parquet.CodecLZ4Raw:
		return &parquetgo.Lz4Raw
	case parquet.CodecZstd:
		// Its default level leaves text of random letters at its full size, which would be another figure: this is the
		// first one that does not.
		return &zstd.Codec{Level: zstd.SpeedBetterCompression}
	default:
		return &parquetgo.Uncompressed
	}
}

// moduleVersion is " of VERSION" for a module in this program, empty when the build does not say.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return " of " + m.Version
		}
	}
	return ""
}
