package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/parquet"
	"firn/internal/record"
)

func TestParquetOptions(t *testing.T) {
	list := record.Field{
		ID: 5, Name: "l", Type: record.Type{Kind: record.KindList, Fields: []record.Field{long(6, "element")}},
	}
	schema := &record.Schema{Fields: []record.Field{long(1, "a"), long(2, "b.c"), structOf(3, "s", long(4, "x")), list}}
	f := func(name string, codec parquet.Codec, properties map[string]string, want func(o *parquet.Options)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			got, err := parquetOptions(func(key string) string { return properties[key] }, schema, codec)
			if err != nil {
				t.Fatal(err)
			}
			o := parquet.DefaultOptions()
			o.Codec, o.Blooms, o.ColumnMetrics = codec, map[int]parquet.Bloom{}, map[int]parquet.Metrics{}
			want(&o)
			if d := cmp.Diff(o, got); d != "" {
				t.Error(d)
			}
			if _, err := parquet.NewFile(schema, got); err != nil {
				t.Errorf("the options do not make a file: %v", err)
			}
		})
	}
	const zstd = parquet.CodecZstd
	f("none", zstd, nil, func(*parquet.Options) {})
	f("other writers' and other columns'", zstd, map[string]string{
		"write.format.default": "parquet", "write.parquet.bloom-filter-enabled.column.gone": "what",
	}, func(*parquet.Options) {})
	f("sizes", zstd, map[string]string{
		"write.parquet.row-group-size-bytes": "5000000000", "write.parquet.page-size-bytes": "65536",
		"write.parquet.page-row-limit": "20000", "write.parquet.dict-size-bytes": "0",
		"write.parquet.bloom-filter-max-bytes": "4096",
	}, func(o *parquet.Options) {
		o.RowGroupBytesMax, o.PageBytesMax, o.PageRowsMax, o.DictionaryBytesMax = 5000000000, 65536, 20000, 0
		o.BloomBytesMax = 4096
	})
	level := map[string]string{"write.parquet.compression-level": "5"}
	f("level of zstd", zstd, level, func(o *parquet.Options) { o.Level = 5 })
	f("level of gzip", parquet.CodecGzip, level, func(o *parquet.Options) { o.Level = 5 })
	f("level of a codec without", parquet.CodecSnappy, level, func(*parquet.Options) {})
	f("metrics", zstd, map[string]string{
		"write.metadata.metrics.default": "counts", "write.metadata.metrics.column.s.x": "truncate(4)",
	}, func(o *parquet.Options) {
		o.Metrics = parquet.Metrics{Mode: parquet.MetricsCounts}
		o.ColumnMetrics[4] = parquet.Metrics{Mode: parquet.MetricsTruncate, Length: 4}
	})
	f("versions", zstd, map[string]string{
		"write.parquet.page-version": "V2", "firn.parquet.encodings": "auto",
		"firn.parquet.page-checksums": "true",
	}, func(o *parquet.Options) { o.PageVersion, o.Encodings, o.PageChecksums = 2, parquet.EncodingsAuto, true })
	f("blooms", zstd, map[string]string{
		"write.parquet.bloom-filter-enabled.column.a":         "TRUE",
		"write.parquet.bloom-filter-enabled.column.b.c":       "true",
		"write.parquet.bloom-filter-fpp.column.b.c":           "0.05",
		"write.parquet.bloom-filter-ndv.column.b.c":           "1000",
		"write.parquet.bloom-filter-enabled.column.s.x":       "false",
		"write.parquet.bloom-filter-fpp.column.s.x":           "0.5",
		"write.parquet.bloom-filter-enabled.column.l.element": "true",
	}, func(o *parquet.Options) {
		o.Blooms = map[int]parquet.Bloom{1: {}, 2: {FalseShare: 0.05, ValuesMax: 1000}, 6: {}}
	})
}

func TestParquetOptionsThatAreWrong(t *testing.T) {
	properties := map[string]string{
		"write.metadata.metrics.default":              "some",
		"write.metadata.metrics.column.a":             "truncate",
		"write.parquet.compression-level":             "best",
		"write.parquet.row-group-size-bytes":          "128MB",
		"write.parquet.page-size-bytes":               "0",
		"write.parquet.page-row-limit":                "-1",
		"write.parquet.dict-size-bytes":               "-1",
		"write.parquet.page-version":                  "v3",
		"firn.parquet.encodings":                      "delta",
		"firn.parquet.page-checksums":                 "crc32",
		"write.parquet.bloom-filter-max-bytes":        "1e6",
		"write.parquet.bloom-filter-enabled.column.a": "yes",
		"write.parquet.bloom-filter-fpp.column.a":     "1",
		"write.parquet.bloom-filter-ndv.column.a":     "0",
	}
	want := []string{
		`firn.parquet.encodings: parquet encodings "delta" are not one of compatible, auto`,
		`firn.parquet.page-checksums: "crc32" is neither true nor false`,
		`write.metadata.metrics.column.a: metrics mode "truncate" is not none, counts, full or truncate(N)`,
		`write.metadata.metrics.default: metrics mode "some" is not none, counts, full or truncate(N)`,
		`write.parquet.bloom-filter-enabled.column.a: "yes" is neither true nor false`,
		`write.parquet.bloom-filter-fpp.column.a: "1" is not a share between 0 and 1`,
		`write.parquet.bloom-filter-max-bytes: "1e6" is not a whole number of 1 or more`,
		`write.parquet.bloom-filter-ndv.column.a: "0" is not a whole number of 1 or more`,
		`write.parquet.compression-level: "best" is not a whole number of 1 or more`,
		`write.parquet.dict-size-bytes: "-1" is not a whole number of 0 or more`,
		`write.parquet.page-row-limit: "-1" is not a whole number of 1 or more`,
		`write.parquet.page-size-bytes: "0" is not a whole number of 1 or more`,
		`write.parquet.page-version: "v3" is neither v1 nor v2`,
		`write.parquet.row-group-size-bytes: "128MB" is not a whole number of 1 or more`,
	}
	schema := &record.Schema{Fields: []record.Field{long(1, "a")}}
	_, err := parquetOptions(func(key string) string { return properties[key] }, schema, parquet.CodecZstd)
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Split(strings.ReplaceAll(err.Error(), "table property ", ""), "\n")
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
