package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pierrec/lz4/v4"
)

func TestParseCodec(t *testing.T) {
	for name, want := range map[string]Codec{
		"uncompressed": CodecNone, "none": CodecNone, "snappy": CodecSnappy, "GZIP": CodecGzip, "zstd": CodecZstd,
		"lz4": CodecLZ4Raw, "lz4_raw": CodecLZ4Raw,
	} {
		if got, err := ParseCodec(name); got != want || err != nil {
			t.Errorf("ParseCodec(%q) = %v, %v; want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"", "brotli", "lzo"} {
		if _, err := ParseCodec(name); err == nil || !strings.Contains(err.Error(), "zstd") {
			t.Errorf("ParseCodec(%q): error %v does not name the choices", name, err)
		}
	}
	for c := CodecNone; c <= CodecLZ4Raw; c++ {
		if got, err := ParseCodec(c.String()); got != c || err != nil {
			t.Errorf("ParseCodec(%q) = %v, %v", c, got, err)
		}
	}
}

func TestParseMetrics(t *testing.T) {
	for name, want := range map[string]Metrics{
		"none": {Mode: MetricsNone}, "counts": {Mode: MetricsCounts}, "full": {Mode: MetricsFull},
		"truncate(16)": {Mode: MetricsTruncate, Length: 16}, " Truncate(3) ": {Mode: MetricsTruncate, Length: 3},
	} {
		got, err := ParseMetrics(name)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("ParseMetrics(%q): %v (-want +got):\n%s", name, err, diff)
		}
	}
	for _, name := range []string{"", "truncate", "truncate()", "truncate(0)", "truncate(-1)", "truncate(1", "16",
		"truncate(99999999999)"} {
		if got, err := ParseMetrics(name); err == nil {
			t.Errorf("ParseMetrics(%q) = %v, want an error", name, got)
		}
	}
}

func TestParseEncodings(t *testing.T) {
	for name, want := range map[string]Encodings{"compatible": EncodingsCompatible, "AUTO": EncodingsAuto} {
		if got, err := ParseEncodings(name); got != want || err != nil {
			t.Errorf("ParseEncodings(%q) = %v, %v; want %v", name, got, err, want)
		}
		if got := want.String(); !strings.EqualFold(got, name) {
			t.Errorf("%q is printed as %q", name, got)
		}
	}
	_, err := ParseEncodings("delta")
	checkRefusal(t, "delta", err, "compatible, auto")
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		name, want string
		options    Options
	}{
		{"codec", "codec 9", Options{Codec: 9}},
		{"negative codec", "codec -1", Options{Codec: -1}},
		{"level of a codec without", "level 1 of snappy", Options{Codec: CodecSnappy, Level: 1}},
		{"gzip level", "level 10 of gzip", Options{Codec: CodecGzip, Level: 10}},
		{"zstd level", "level 23 of zstd", Options{Codec: CodecZstd, Level: 23}},
		{"page too small", "page size 10", Options{PageBytesMax: 10}},
		{"page negative", "page size -1", Options{PageBytesMax: -1}},
		{"row group", "row group size -1", Options{RowGroupBytesMax: -1}},
		{"dictionary", "dictionary size -1", Options{DictionaryBytesMax: -1}},
		{"page rows", "page limit of -1 rows", Options{PageRowsMax: -1}},
		{"page version", "page version 3", Options{PageVersion: 3}},
		{"encodings", "encodings 9", Options{Encodings: 9}},
		{"bloom filter size", "bloom filter size 31", Options{BloomBytesMax: 31}},
		{"bloom filter values", "field 2: bloom filter of -1", Options{Blooms: map[int]Bloom{2: {ValuesMax: -1}}}},
		{"bloom filter share", "field 2: share of false positives 1", Options{Blooms: map[int]Bloom{2: {FalseShare: 1}}}},
		{"metrics", "metrics mode 9", Options{Metrics: Metrics{Mode: 9}}},
		{"column metrics", "field 4: metrics mode", Options{ColumnMetrics: map[int]Metrics{4: {Length: -1}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewFile(referenceSchema(), c.options)
			checkRefusal(t, c.name, err, c.want)
		})
	}
}

func checkRefusal(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", name, err, want)
	}
}

func TestLZ4LiteralsDecode(t *testing.T) {
	for _, n := range []int{0, 1, 14, 15, 16, 269, 270, 271, 70000} {
		src := bytes.Repeat([]byte("x"), n)
		block := appendLZ4Literals([]byte("before"), src)
		got := make([]byte, n)
		k, err := lz4.UncompressBlock(block[len("before"):], got)
		if err != nil || !bytes.Equal(got[:k], src) {
			t.Errorf("%d literals: %v, got %d bytes", n, err, k)
		}
	}
}

func TestCompressAppends(t *testing.T) {
	// What does not compress, too: the encoders have other ways for it.
	random := make([]byte, 5000)
	x := uint32(1)
	for i := range random {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	for codec := CodecNone; codec <= CodecLZ4Raw; codec++ {
		for name, src := range map[string][]byte{"random": random, "same": make([]byte, 5000), "one": {1}} {
			t.Run(fmt.Sprint(codec, " ", name), func(t *testing.T) {
				var e encoders
				out, err := e.compress(codec, 0, []byte("before"), src)
				if err != nil || !bytes.HasPrefix(out, []byte("before")) {
					t.Fatalf("%v, starts with %q", err, out[:min(6, len(out))])
				}
				if len(out)-6 > compressBound(len(src)) {
					t.Errorf("%d bytes, more than the bound %d", len(out)-6, compressBound(len(src)))
				}
			})
		}
	}
}
