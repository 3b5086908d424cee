package wire

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"firn/internal/parquet"
	"firn/internal/record"
)

// properties reads table properties and gathers what is wrong with them.
type properties struct {
	value  func(key string) string // "" when a property is not set
	faults []error
}

// read hands a property to a parser, when it is set.
func (p *properties) read(key string, parse func(value string) error) {
	value := p.value(key)
	if value == "" {
		return
	}
	if err := parse(value); err != nil {
		p.faults = append(p.faults, fmt.Errorf("table property %s: %w", key, err))
	}
}

func (p *properties) int(key string, to *int, least int) {
	p.read(key, func(value string) (err error) {
		*to, err = parseInt[int](value, least)
		return err
	})
}

func parseInt[T int | int64](value string, least T) (T, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < int64(least) || int64(T(n)) != n {
		return 0, fmt.Errorf("%q is not a whole number of %d or more", value, least)
	}
	return T(n), nil
}

// parquetOptions are what a table's properties say of its data files, by Iceberg's names where Iceberg has them. The
// schema is that of the files; a property of a column that is not in it is for other writers. The pool is the caller's.
func parquetOptions(
	property func(key string) string, schema *record.Schema, codec parquet.Codec,
) (parquet.Options, error) {
	o := parquet.DefaultOptions()
	o.Codec = codec
	columns, err := parquet.ColumnNames(schema)
	if err != nil {
		return o, err
	}
	p := properties{value: property}
	p.read("write.parquet.compression-level", func(value string) error {
		level, err := parseInt(value, 1)
		if codec == parquet.CodecZstd || codec == parquet.CodecGzip { // the others have none
			o.Level = level
		}
		return err
	})
	p.read("write.parquet.row-group-size-bytes", func(value string) (err error) {
		o.RowGroupBytesMax, err = parseInt[int64](value, 1)
		return err
	})
	p.int("write.parquet.page-size-bytes", &o.PageBytesMax, 1)
	p.int("write.parquet.page-row-limit", &o.PageRowsMax, 1)
	p.int("write.parquet.dict-size-bytes", &o.DictionaryBytesMax, 0)
	p.read("write.parquet.page-version", func(value string) (err error) {
		o.PageVersion, err = pageVersion(value)
		return err
	})
	p.read("firn.parquet.encodings", func(value string) (err error) {
		o.Encodings, err = parquet.ParseEncodings(value)
		return err
	})
	p.read("firn.parquet.page-checksums", func(value string) (err error) {
		o.PageChecksums, err = parseBool(value)
		return err
	})
	p.int("write.parquet.bloom-filter-max-bytes", &o.BloomBytesMax, 1)
	o.Blooms = p.blooms(columns)
	p.metrics(&o, columns)
	return o, errors.Join(p.faults...)
}

func pageVersion(value string) (int, error) {
	i := slices.Index([]string{"v1", "v2"}, strings.ToLower(value))
	if i < 0 {
		return 0, fmt.Errorf("%q is neither v1 nor v2", value)
	}
	return i + 1, nil
}

// blooms are the bloom filters of the columns, which are names by field id.
func (p *properties) blooms(columns map[int]string) map[int]parquet.Bloom {
	out := map[int]parquet.Bloom{}
	for id, name := range columns {
		enabled, b := false, parquet.Bloom{}
		p.read("write.parquet.bloom-filter-enabled.column."+name, func(value string) (err error) {
			enabled, err = parseBool(value)
			return err
		})
		p.read("write.parquet.bloom-filter-fpp.column."+name, func(value string) (err error) {
			b.FalseShare, err = parseShare(value)
			return err
		})
		p.read("write.parquet.bloom-filter-ndv.column."+name, func(value string) (err error) {
			b.ValuesMax, err = parseInt[int64](value, 1)
			return err
		})
		if enabled {
			out[id] = b
		}
	}
	return out
}

func parseBool(value string) (bool, error) {
	i := slices.Index([]string{"false", "true"}, strings.ToLower(value))
	if i < 0 {
		return false, fmt.Errorf("%q is neither true nor false", value)
	}
	return i == 1, nil
}

func parseShare(value string) (float64, error) {
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || share <= 0 || share >= 1 {
		return 0, fmt.Errorf("%q is not a share between 0 and 1", value)
	}
	return share, nil
}

// metrics are how much of each column the descriptions of files keep.
func (p *properties) metrics(o *parquet.Options, columns map[int]string) {
	p.read("write.metadata.metrics.default", func(value string) (err error) {
		o.Metrics, err = parquet.ParseMetrics(value)
		return err
	})
	o.ColumnMetrics = map[int]parquet.Metrics{}
	for id, name := range columns {
		p.read("write.metadata.metrics.column."+name, func(value string) error {
			m, err := parquet.ParseMetrics(value)
			o.ColumnMetrics[id] = m
			return err
		})
	}
}
