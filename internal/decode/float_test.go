package decode

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"firn/internal/record"
)

// checkFloats reads one text as both kinds of float and compares with package strconv, sign of zero included.
func checkFloats(t *testing.T, d *JSON, batch *record.Batch, text string) {
	t.Helper()
	batch.Reset()
	d.Decode(blockOf(`{"d":`+text+`}`, `{"f":`+text+`,"and":"so on and on and on"}`), batch)
	rows := 0
	if want, err := strconv.ParseFloat(text, 64); err == nil {
		if got := batch.Columns[0].Floats64[0]; math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
		rows++
	}
	if want, err := strconv.ParseFloat(text, 32); err == nil {
		if got := batch.Columns[1].Floats32[rows]; math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Errorf("%s: got %v, want %v", text, got, float32(want))
		}
		rows++
	}
	if batch.Rows != rows {
		t.Errorf("%s: %d rows, want %d", text, batch.Rows, rows)
	}
}

func TestFloatsAreTheNearest(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{of("d", record.KindDouble), of("f", record.KindFloat)}}
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	r := rand.New(rand.NewPCG(9, 10))
	values := []float64{
		0, math.Copysign(0, -1), 1, math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxFloat32, 0x1p-126,
		0x1p-149, 0x1p-150, 0x1p-1022, 0x1p-1074, 0x1p53, 0x1p53 + 2, 0x1p63, 0x1p64,
	}
	for range rounds(4000) {
		values = append(values, math.Float64frombits(r.Uint64()), float64(math.Float32frombits(r.Uint32())), r.Float64(),
			(r.Float64()-0.5)*math.Pow10(r.IntN(40)-20), float64(r.Int64()))
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		for _, format := range []byte{'e', 'f'} {
			if format == 'e' || math.Abs(v) > 1e-30 && math.Abs(v) < 1e30 {
				checkFloats(t, d, batch, strconv.FormatFloat(v, format, -1, 64))
			}
		}
		checkFloats(t, d, batch, strconv.FormatFloat(v, 'e', 15+r.IntN(6), 64))
	}
	// Halfway between two floats, and one digit to each side of that.
	for range rounds(2000) {
		v := float64(math.Float32frombits(r.Uint32()&0x7fffffff%0x7f000000)) * (1 + 0x1p-24)
		text := strconv.FormatFloat(v, 'e', -1, 64)
		checkFloats(t, d, batch, text)
		for _, digit := range []string{"0000000000000000000001", "00", "9"} {
			mantissa, exponent, _ := strings.Cut(text, "e")
			if strings.Contains(mantissa, ".") {
				checkFloats(t, d, batch, mantissa+digit+"e"+exponent)
			}
		}
	}
}
