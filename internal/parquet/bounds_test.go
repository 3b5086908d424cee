package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"firn/internal/record"
)

// leafPaths lists the leaves of a schema with whether they are inside a list or map.
func leafPaths(fields []record.Field, repeated bool, visit func(f *record.Field, repeated bool)) {
	for i := range fields {
		f := &fields[i]
		if f.Type.Fields == nil {
			visit(f, repeated)
		} else {
			leafPaths(f.Type.Fields, repeated || f.Type.Kind != record.KindStruct, visit)
		}
	}
}

// checkMetrics compares counts and bounds of a description with the rows themselves.
func checkMetrics(t tb, s *record.Schema, rows [][]any, d record.DataFile) {
	t.Helper()
	triples, at := shred(s, rows), 0
	leafPaths(s.Fields, false, func(f *record.Field, repeated bool) {
		entries := triples[at]
		at++
		nulls, nans := int64(0), int64(0)
		for _, e := range entries {
			if e.Value == nil {
				nulls++
			} else if x, ok := floatOf(&f.Type, e.Value); ok && math.IsNaN(x) {
				nans++
			}
		}
		if d.ValueCounts[f.ID] != int64(len(entries)) || d.NullValueCounts[f.ID] != nulls || d.NaNValueCounts[f.ID] != nans {
			t.Fatalf("%s: counts %d, nulls %d, NaNs %d; want %d, %d, %d", f.Name, d.ValueCounts[f.ID],
				d.NullValueCounts[f.ID], d.NaNValueCounts[f.ID], len(entries), nulls, nans)
		}
		low, high := d.LowerBounds[f.ID], d.UpperBounds[f.ID]
		if repeated && (low != nil || high != nil) {
			t.Fatalf("%s is repeated and has bounds", f.Name)
		}
		if !repeated {
			checkBounds(t, f, entries, low, high)
		}
	})
}

// checkBounds checks that bounds hold for every value and, where they are not truncated, are values themselves.
func checkBounds(t tb, f *record.Field, entries []triple, low, high []byte) {
	t.Helper()
	isLow, isHigh, values := false, false, 0
	for _, e := range entries {
		if e.Value == nil {
			continue
		}
		if x, ok := floatOf(&f.Type, e.Value); ok && math.IsNaN(x) {
			continue
		}
		values++
		v := boundForm(&f.Type, e.Value)
		if compareBounds(&f.Type, low, v) > 0 {
			t.Fatalf("%s: lower bound %x is above %x", f.Name, low, v)
		}
		if high != nil && compareBounds(&f.Type, high, v) < 0 {
			t.Fatalf("%s: upper bound %x is below %x", f.Name, high, v)
		}
		isLow = isLow || compareBounds(&f.Type, low, v) == 0
		isHigh = isHigh || high != nil && compareBounds(&f.Type, high, v) == 0
	}
	truncated := f.Type.Kind == record.KindString || f.Type.Kind == record.KindBinary
	switch {
	case values == 0 && (low != nil || high != nil):
		t.Fatalf("%s: bounds %x, %x without a value", f.Name, low, high)
	case values > 0 && !truncated && (!isLow || !isHigh):
		t.Fatalf("%s: bounds %x, %x are not values", f.Name, low, high)
	}
}

func floatOf(t *record.Type, v []byte) (float64, bool) {
	switch t.Kind {
	case record.KindFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v))), true
	case record.KindDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(v)), true
	}
	return 0, false
}

// boundForm is the single-value serialisation of a PLAIN value.
func boundForm(t *record.Type, plain []byte) []byte {
	if t.Kind != record.KindDecimal {
		return plain
	}
	if t.Precision <= 18 {
		plain = bytes.Clone(plain)
		for i, j := 0, len(plain)-1; i < j; i, j = i+1, j-1 {
			plain[i], plain[j] = plain[j], plain[i]
		}
	}
	return plain
}

// compareBounds orders serialised values by their type.
func compareBounds(t *record.Type, a, b []byte) int {
	if x, ok := floatOf(t, a); ok {
		y, _ := floatOf(t, b)
		// -0 is equal to +0 here: bounds may be either.
		return big.NewFloat(x).Cmp(big.NewFloat(y))
	}
	switch t.Kind {
	case record.KindString, record.KindBinary, record.KindUUID, record.KindFixed:
		return bytes.Compare(a, b)
	case record.KindDecimal:
		return signedBig(a).Cmp(signedBig(b))
	case record.KindBoolean:
		return int(a[0]) - int(b[0])
	case record.KindInt, record.KindDate:
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
	default:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	}
}

func signedBig(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

func TestTextBounds(t *testing.T) {
	maxRune, a16 := "\U0010FFFF", strings.Repeat("a", 16)
	for _, c := range []struct {
		name      string
		values    []string
		low, high any // string, or nil for none
	}{
		{"short", []string{"b", "a", "c"}, "a", "c"},
		{"empty", []string{""}, "", ""},
		{"exactly 16", []string{a16}, a16, a16},
		{"17", []string{a16 + "x"}, a16, strings.Repeat("a", 15) + "b"},
		{"16 and the same longer", []string{a16, a16 + "x"}, a16, strings.Repeat("a", 15) + "b"},
		{"code points, not bytes", []string{strings.Repeat("\u00fc", 16)}, strings.Repeat("\u00fc", 16),
			strings.Repeat("\u00fc", 16)},
		{"16 of four bytes and more", []string{strings.Repeat("\U0001F600", 17)}, strings.Repeat("\U0001F600", 16),
			strings.Repeat("\U0001F600", 15) + "\U0001F601"},
		{"U+7F grows by a byte", []string{strings.Repeat("a", 15) + "\x7fz"}, strings.Repeat("a", 15) + "\x7f",
			strings.Repeat("a", 15) + "\u0080"},
		{"before the surrogates", []string{strings.Repeat("a", 15) + "\uD7FFz"}, strings.Repeat("a", 15) + "\uD7FF",
			strings.Repeat("a", 15) + "\uE000"},
		{"last has no successor", []string{strings.Repeat("a", 15) + maxRune + "z"},
			strings.Repeat("a", 15) + maxRune, strings.Repeat("a", 14) + "b"},
		{"none has a successor", []string{strings.Repeat(maxRune, 17)}, strings.Repeat(maxRune, 16), nil},
		{"not text", []string{"\xff\xfe"}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkBytesBounds(t, record.Type{Kind: record.KindString}, c.values, c.low, c.high)
		})
	}
}

func TestBinaryBounds(t *testing.T) {
	ff := strings.Repeat("\xff", 16)
	for _, c := range []struct {
		name      string
		values    []string
		low, high any
	}{
		{"short", []string{"\xff", "\x00"}, "\x00", "\xff"},
		{"17", []string{strings.Repeat("\x01", 17)}, strings.Repeat("\x01", 16), strings.Repeat("\x01", 15) + "\x02"},
		{"0xff carries", []string{"\x01" + strings.Repeat("\xff", 16)}, "\x01" + strings.Repeat("\xff", 15), "\x02"},
		{"16 of 0xff", []string{ff}, ff, ff},
		{"17 of 0xff", []string{ff + "\x00"}, ff, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkBytesBounds(t, record.Type{Kind: record.KindBinary}, c.values, c.low, c.high)
		})
	}
}

// checkBytesBounds checks the bounds of a column of the values, in the description and in the footer, in one and in
// several pages and row groups.
func checkBytesBounds(t *testing.T, typ record.Type, values []string, low, high any) {
	t.Helper()
	s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: typ}}}
	rows := [][]any{{nil}}
	for _, v := range values {
		rows = append(rows, []any{[]byte(v)})
	}
	for _, rowGroupBytesMax := range []int64{1 << 20, 1} {
		data, d := writeFile(t, s, rows, Options{RowGroupBytesMax: rowGroupBytesMax}, 1)
		got := []any{textOrNil(d.LowerBounds[1]), textOrNil(d.UpperBounds[1])}
		if diff := gocmp.Diff([]any{low, high}, got); diff != "" {
			t.Errorf("bounds (-want +got):\n%s", diff)
		}
		if rowGroupBytesMax > 1 && low != "" {
			stats := openFile(t, data).Metadata().RowGroups[0].Columns[0].MetaData.Statistics
			if diff := gocmp.Diff(got, []any{textOrNil(stats.MinValue), textOrNil(stats.MaxValue)}); diff != "" {
				t.Errorf("footer (-description +footer):\n%s", diff)
			}
			if stats.NullCount != 1 {
				t.Errorf("footer has %d nulls, want 1", stats.NullCount)
			}
		}
	}
}

func textOrNil(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

func TestFloatBounds(t *testing.T) {
	negativeZero, nan := math.Copysign(0, -1), math.NaN()
	for _, c := range []struct {
		name      string
		values    []any
		low, high any
		nans      int64
	}{
		{"NaN is left out", []any{nan, 1.5, -2.5, nan}, -2.5, 1.5, 2},
		{"only NaN", []any{nan}, nil, nil, 1},
		{"+0 alone", []any{0.0}, negativeZero, 0.0, 0},
		{"-0 alone", []any{negativeZero}, negativeZero, 0.0, 0},
		{"infinities", []any{math.Inf(1), math.Inf(-1)}, math.Inf(-1), math.Inf(1), 0},
		{"zero as low", []any{0.0, 3.0}, negativeZero, 3.0, 0},
		{"zero as high", []any{negativeZero, -3.0}, -3.0, 0.0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &record.Schema{Fields: []record.Field{
				{ID: 1, Name: "d", Type: record.Type{Kind: record.KindDouble}},
				{ID: 2, Name: "f", Type: record.Type{Kind: record.KindFloat}},
			}}
			var rows [][]any
			for _, v := range c.values {
				rows = append(rows, []any{v, float32(v.(float64))})
			}
			_, d := writeFile(t, s, rows, Options{}, 2)
			want := [][]byte{nil, nil, nil, nil}
			if c.low != nil {
				low, high := c.low.(float64), c.high.(float64)
				want = [][]byte{plainOf(nil, low), plainOf(nil, high), plainOf(nil, float32(low)), plainOf(nil, float32(high))}
			}
			got := [][]byte{d.LowerBounds[1], d.UpperBounds[1], d.LowerBounds[2], d.UpperBounds[2]}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("bounds (-want +got):\n%s", diff)
			}
			if d.NaNValueCounts[1] != c.nans || d.NaNValueCounts[2] != c.nans {
				t.Errorf("NaN counts %v, want %d", d.NaNValueCounts, c.nans)
			}
		})
	}
}

func TestDecimalBoundsAreShort(t *testing.T) {
	for _, precision := range []int{5, 15, 25} {
		typ := record.Type{Kind: record.KindDecimal, Precision: precision}
		s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: typ}}}
		var rows [][]any
		for _, v := range []int64{-129, 128, 3, 0} {
			if precision > 18 {
				rows = append(rows, []any{decimal16(v)})
			} else {
				rows = append(rows, []any{v})
			}
		}
		_, d := writeFile(t, s, rows, Options{}, 10)
		want := [][]byte{{0xff, 0x7f}, {0x00, 0x80}}
		if diff := gocmp.Diff(want, [][]byte{d.LowerBounds[1], d.UpperBounds[1]}); diff != "" {
			t.Errorf("decimal(%d): bounds (-want +got):\n%s", precision, diff)
		}
	}
}

func TestMetricsModes(t *testing.T) {
	text := record.Type{Kind: record.KindString}
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "default", Type: text}, {ID: 2, Name: "full", Type: text}, {ID: 3, Name: "counts", Type: text},
		{ID: 4, Name: "none", Type: text}, {ID: 5, Name: "truncated", Type: text},
	}}
	v := []byte(strings.Repeat("x", 500))
	o := Options{Metrics: Metrics{Mode: MetricsTruncate, Length: 2}, ColumnMetrics: map[int]Metrics{
		2: {Mode: MetricsFull}, 3: {Mode: MetricsCounts}, 4: {Mode: MetricsNone}, 5: {Mode: MetricsTruncate},
	}}
	_, d := writeFile(t, s, [][]any{{v, v, v, v, v}}, o, 1)
	lower := map[int][]byte{1: v[:2], 2: v, 5: v[:16]}
	upper := map[int][]byte{1: []byte("xy"), 2: v, 5: []byte(strings.Repeat("x", 15) + "y")}
	if diff := gocmp.Diff([]any{lower, upper}, []any{d.LowerBounds, d.UpperBounds}); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(map[int]int64{1: 1, 2: 1, 3: 1, 5: 1}, d.ValueCounts); diff != "" {
		t.Errorf("value counts (-want +got):\n%s", diff)
	}
	if len(d.ColumnSizes) != 4 {
		t.Errorf("column sizes %v, want those of 4 columns", d.ColumnSizes)
	}
}

func TestTruncationHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := []byte(rapid.StringOf(rapid.RuneFrom([]rune{'a', 0x7F, 0x7FF, 0xD7FF, 0xFFFF, 0x10FFFF})).Draw(t, "text"))
		n := rapid.IntRange(1, 5).Draw(t, "length")
		low, high := truncateText(v, n), truncateTextUp(v, false, n)
		if bytes.Compare(low, v) > 0 || !bytes.HasPrefix(v, low) || utf8.RuneCount(low) > n {
			t.Fatalf("lower bound %x of %x", low, v)
		}
		if high != nil && (bytes.Compare(high, v) < 0 || utf8.RuneCount(high) > n || !utf8.Valid(high)) {
			t.Fatalf("upper bound %x of %x", high, v)
		}
		up := truncateBytesUp(v, false, n)
		if up != nil && (bytes.Compare(up, v) < 0 || len(up) > n) {
			t.Fatalf("upper bound %x of binary %x", up, v)
		}
	})
}
