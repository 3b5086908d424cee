package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"firn/internal/record"
)

// TestOldTimestamps reads instants of 96 bits and of milliseconds, which tables have that were migrated.
func TestOldTimestamps(t *testing.T) {
	micros := []int64{0, -1_000, 1_764_374_400_123_000, -2_208_988_800_000_000}
	for name, option := range map[string]pqarrow.WriterOption{
		"96 bits":      pqarrow.WithDeprecatedInt96Timestamps(true),
		"milliseconds": pqarrow.WithCoerceTimestamps(arrow.Millisecond),
		"microseconds": pqarrow.WithCoerceTimestamps(arrow.Microsecond),
	} {
		t.Run(name, func(t *testing.T) {
			s := arrow.NewSchema([]arrow.Field{{Name: "at", Nullable: true, Metadata: fieldID(1),
				Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}}}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, s)
			defer b.Release()
			rows := [][]any{{nil}}
			b.Field(0).AppendNull()
			for _, v := range micros {
				rows = append(rows, []any{v})
				b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(v))
			}
			var out bytes.Buffer
			w, err := pqarrow.NewFileWriter(s, &out, nil, pqarrow.NewArrowWriterProperties(option))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(b.NewRecordBatch()); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			want := &record.Schema{Fields: []record.Field{
				{ID: 1, Name: "at", Type: record.Type{Kind: record.KindTimestampTZ}},
			}}
			checkRows(t, want, rows, out.Bytes(), RowReaderOptions{})
			want.Fields[0].Type.Kind = record.KindTimestamp
			if err := rowsFail(t, want, out.Bytes()); !strings.Contains(err.Error(), "not read as timestamp") {
				t.Errorf("error %v of an instant that is read as one without a zone", err)
			}
		})
	}
}

// TestBadValues says which values a column cannot have.
func TestBadValues(t *testing.T) {
	int96 := func(nanos uint64, day uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, nanos), day)
	}
	millis := binary.LittleEndian.AppendUint64(nil, math.MaxInt64/999)
	for name, c := range map[string]struct {
		cast  cast
		value []byte
	}{
		"a day of 25 hours":       {castInt96, int96(uint64(25*time.Hour), julianEpoch)},
		"a day beyond time":       {castInt96, int96(0, math.MaxInt32)},
		"milliseconds":            {castMillis, millis},
		"a long decimal":          {castFixedToLong, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0}},
		"a long negative decimal": {castFixedToLong, []byte{0xFF, 0, 0, 0, 0, 0, 0, 0, 0}},
		"a wide decimal":          {castBytesToWide, slices.Repeat([]byte{1}, 17)},
	} {
		if err := (&rowLeaf{cast: c.cast}).appendOne(&record.Column{}, c.value); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, v := range []int64{0, 1, -1, 127, 128, -128, -129, math.MaxInt64, math.MinInt64} {
		wide := appendWide(nil, v)
		for n := range 16 {
			short := wide[n:]
			got, err := bigEndian(short)
			fits := n <= 8 || v>>(8*(16-n)-1) == v>>63
			if fits != (err == nil && got == v) {
				t.Errorf("%d in %d bytes is %d, error %v", v, len(short), got, err)
			}
		}
	}
}

// TestOldLZ4 reads both forms of the deprecated codec.
func TestOldLZ4(t *testing.T) {
	text := bytes.Repeat([]byte("snow "), 100)
	pack := func(b []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := lz4.CompressBlock(b, out, nil)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		return out[:n]
	}
	framed := func(b []byte) []byte {
		packed := pack(b)
		out := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
		return append(binary.BigEndian.AppendUint32(out, uint32(len(packed))), packed...)
	}
	var d decoders
	for name, b := range map[string][]byte{
		"bare": pack(text), "Hadoop": framed(text), "two blocks": append(framed(text[:200]), framed(text[200:])...),
	} {
		got, err := d.decompressAny(format.Lz4, nil, b, len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
		for _, size := range []int{1, len(text) - 1, len(text) + 1} {
			if _, err := d.decompressAny(format.Lz4, nil, b, size); err == nil {
				t.Errorf("%s: no error for a size of %d", name, size)
			}
		}
	}
	if _, err := d.decompressAny(format.LZO, nil, text, 10); err == nil {
		t.Error("no error for a codec that is not known")
	}
	if _, err := d.decompressAny(format.Brotli, nil, text, 10); err == nil {
		t.Error("no error for bytes that brotli did not make")
	}
}
