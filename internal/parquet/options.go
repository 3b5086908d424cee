package parquet

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Options says how a file is written. DefaultOptions has the defaults.
type Options struct {
	Codec Codec
	// Level is the codec's own level: zstd 1 to 22, gzip 1 to 9; 0 is the codec's default. The others have none.
	Level int
	// PageBytesMax bounds the uncompressed values of a data page; a single larger row makes a larger page.
	// 0 is the default.
	PageBytesMax int
	// RowGroupBytesMax is the encoded size at which a row group ends; 0 is the default.
	RowGroupBytesMax int64
	// DictionaryBytesMax bounds the dictionary of a column chunk, after which values are written plainly. 0 is never.
	DictionaryBytesMax int
	// Metrics is what the data file's description keeps of a column, and ColumnMetrics (by field id) the exceptions.
	Metrics       Metrics
	ColumnMetrics map[int]Metrics
	// CreatedBy names the writer in the footer. parquet-java reads it as "NAME version VERSION".
	CreatedBy string
	// Pool is where encoders and idle buffers are. Files that are open at once should share one; nil is a private one.
	Pool *Pool
}

const (
	pageBytesDefault       = 1 << 20
	rowGroupBytesDefault   = 128 << 20
	dictionaryBytesDefault = 1 << 20
	// frontBytes is kept free before the values of a page, so that header and levels fit in without a copy. A header
	// is at most 48 bytes and the levels of a page without nulls are at most 10.
	frontBytes      = 128
	headerBytesMax  = 48
	pageBytesMinMax = 4 * frontBytes
)

// DefaultOptions is zstd with Iceberg's defaults: row groups of 128 MiB, pages and dictionaries of 1 MiB, bounds
// truncated to 16.
func DefaultOptions() Options {
	return Options{
		Codec:              CodecZstd,
		PageBytesMax:       pageBytesDefault,
		RowGroupBytesMax:   rowGroupBytesDefault,
		DictionaryBytesMax: dictionaryBytesDefault,
		CreatedBy:          createdByDefault,
	}
}

const createdByDefault = "firn version devel"

// normalize fills what is zero and refuses what makes no sense.
func (o Options) normalize() (Options, error) {
	if err := o.Codec.check(o.Level); err != nil {
		return o, err
	}
	if o.PageBytesMax == 0 {
		o.PageBytesMax = pageBytesDefault
	}
	if o.RowGroupBytesMax == 0 {
		o.RowGroupBytesMax = rowGroupBytesDefault
	}
	if o.CreatedBy == "" {
		o.CreatedBy = createdByDefault
	}
	switch {
	case o.PageBytesMax < pageBytesMinMax || o.PageBytesMax > math.MaxInt32/2:
		return o, fmt.Errorf("page size %d is not between %d and %d bytes", o.PageBytesMax, pageBytesMinMax, math.MaxInt32/2)
	case o.RowGroupBytesMax < 0:
		return o, fmt.Errorf("row group size %d is negative", o.RowGroupBytesMax)
	case o.DictionaryBytesMax < 0 || o.DictionaryBytesMax > math.MaxInt32/2:
		return o, fmt.Errorf("dictionary size %d is not between 0 and %d bytes", o.DictionaryBytesMax, math.MaxInt32/2)
	}
	if err := o.Metrics.check(); err != nil {
		return o, err
	}
	for id, m := range o.ColumnMetrics {
		if err := m.check(); err != nil {
			return o, fmt.Errorf("field %d: %w", id, err)
		}
	}
	if o.Pool == nil {
		o.Pool = NewPool(privateIdleBytesMax)
	}
	return o, nil
}

// MetricsMode is how much of a column the description of a data file keeps (Iceberg's
// write.metadata.metrics.default).
type MetricsMode uint8

// The modes.
const (
	MetricsTruncate MetricsMode = iota // counts, and bounds of strings and binaries cut to a length
	MetricsFull                        // counts and whole bounds
	MetricsCounts                      // counts
	MetricsNone                        // nothing
)

// Metrics is a mode with its length in code points (string) or bytes (binary); 0 is 16, Iceberg's default.
type Metrics struct {
	Mode   MetricsMode
	Length int
}

const boundLengthDefault = 16

// ParseMetrics reads Iceberg's names: none, counts, full and truncate(N).
func ParseMetrics(s string) (Metrics, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	switch name {
	case "none":
		return Metrics{Mode: MetricsNone}, nil
	case "counts":
		return Metrics{Mode: MetricsCounts}, nil
	case "full":
		return Metrics{Mode: MetricsFull}, nil
	}
	digits, ok := strings.CutPrefix(name, "truncate(")
	digits, closed := strings.CutSuffix(digits, ")")
	n, err := strconv.Atoi(digits)
	if !ok || !closed || err != nil || n <= 0 || n > math.MaxInt32 {
		return Metrics{}, fmt.Errorf("metrics mode %q is not none, counts, full or truncate(N)", s)
	}
	return Metrics{Mode: MetricsTruncate, Length: n}, nil
}

func (m Metrics) check() error {
	if m.Mode > MetricsNone || m.Length < 0 {
		return fmt.Errorf("metrics mode %d of length %d is unknown", m.Mode, m.Length)
	}
	return nil
}

// length is how much of a string or binary a bound keeps. Counts and none have no bounds in the description, yet the
// footer's statistics are kept for them too, of the default length.
func (m Metrics) length() int {
	switch {
	case m.Mode == MetricsFull:
		return math.MaxInt32
	case m.Mode == MetricsTruncate && m.Length > 0:
		return m.Length
	default:
		return boundLengthDefault
	}
}
