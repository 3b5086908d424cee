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
	// PageRowsMax bounds the rows of a data page; 0 is the default: as many as fit, and 20,000 of dictionary indices.
	PageRowsMax int
	// PageVersion is 1 or 2, the layout of data pages; 0 is 1, which every reader knows.
	PageVersion int
	// PageChecksums writes a CRC of each page into its header, for readers that want to find damage.
	PageChecksums bool
	// Encodings says what a page may have beside PLAIN and a dictionary.
	Encodings Encodings
	// Blooms are the bloom filters to write, by field id. BloomBytesMax bounds each of them, for a column and a row
	// group; 0 is the default.
	Blooms        map[int]Bloom
	BloomBytesMax int
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
	pageVersionDefault     = 1
	// frontBytes is kept free before the values of a page, so that header and levels fit in without a copy. A header
	// is at most 65 bytes and the levels of a page without nulls are at most 10.
	frontBytes      = 128
	headerBytesMax  = 72
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
	if o.PageRowsMax == 0 {
		o.PageRowsMax = math.MaxInt
	}
	if o.PageVersion == 0 {
		o.PageVersion = pageVersionDefault
	}
	if o.BloomBytesMax == 0 {
		o.BloomBytesMax = bloomBytesMaxDefault
	}
	if o.CreatedBy == "" {
		o.CreatedBy = createdByDefault
	}
	switch {
	case o.PageRowsMax < 0:
		return o, fmt.Errorf("page limit of %d rows is negative", o.PageRowsMax)
	case o.PageVersion != 1 && o.PageVersion != 2:
		return o, fmt.Errorf("page version %d is neither 1 nor 2", o.PageVersion)
	case o.BloomBytesMax < bloomBlockBytes || o.BloomBytesMax > bloomBytesMaxMax:
		return o, fmt.Errorf("bloom filter size %d is not between %d and %d bytes",
			o.BloomBytesMax, bloomBlockBytes, bloomBytesMaxMax)
	case o.Encodings > EncodingsAuto:
		return o, fmt.Errorf("encodings %d are unknown", o.Encodings)
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
	for id, b := range o.Blooms {
		if err := b.check(); err != nil {
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
