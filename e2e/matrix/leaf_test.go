package matrix

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"firn/internal/record"
)

// leaf is a primitive type with the values at the ends of its range, and others at random.
type leaf struct {
	name   string
	typ    record.Type
	edges  []any
	random func(r *rand.Rand) any
}

// A value is nil, bool, int32, int64, float32, float64, []byte (string, binary, uuid, fixed, and decimals of more than
// 18 digits as 16 bytes), []any for a struct (its fields) and a list (its elements), and []any of [2]any for a map.

// Instants in microseconds at the ends of the years 1 and 9999, which every reader has.
const (
	microsMin = -62135596800000000
	microsMax = 253402300799999999
)

// leaves is every primitive type in each of its physical forms.
func leaves() []leaf {
	kind := func(k record.Kind) record.Type { return record.Type{Kind: k} }
	micros := func(r *rand.Rand) any { return microsMin + r.Int64N(microsMax-microsMin) }
	nanos := func(r *rand.Rand) any { return int64(1764374400123456789) + r.Int64N(1e12) }
	instants := []any{int64(0), int64(-1), int64(1), int64(1764374400123456), int64(microsMin), int64(microsMax)}
	finest := []any{int64(0), int64(-1), int64(1), int64(1764374400123456789), int64(math.MinInt64 + 1000),
		int64(math.MaxInt64 - 1000)}
	return []leaf{
		{"boolean", kind(record.KindBoolean), []any{true, false}, func(r *rand.Rand) any { return r.IntN(3) == 0 }},
		{"int", kind(record.KindInt), []any{int32(0), int32(-1), int32(1), int32(math.MinInt32), int32(math.MaxInt32)},
			func(r *rand.Rand) any { return int32(r.Uint32()) >> r.IntN(32) }},
		{"long", kind(record.KindLong), []any{int64(0), int64(-1), int64(1), int64(math.MinInt64), int64(math.MaxInt64)},
			func(r *rand.Rand) any { return int64(r.Uint64()) >> r.IntN(64) }},
		{"float", kind(record.KindFloat), floats32(), func(r *rand.Rand) any { return float32(r.NormFloat64()) }},
		{"double", kind(record.KindDouble), floats64(), func(r *rand.Rand) any { return r.NormFloat64() * 1e9 }},
		decimalLeaf("decimal_1_0", 1, 0),
		decimalLeaf("decimal_9_2", 9, 2),
		decimalLeaf("decimal_10_3", 10, 3),
		decimalLeaf("decimal_18_18", 18, 18),
		decimalLeaf("decimal_19_3", 19, 3),
		decimalLeaf("decimal_28_0", 28, 0),
		decimalLeaf("decimal_38_10", 38, 10),
		{"date", kind(record.KindDate), []any{int32(0), int32(-1), int32(20421), int32(-719162), int32(2932896)},
			func(r *rand.Rand) any { return r.Int32N(40_000) - 10_000 }},
		{"time", kind(record.KindTime), []any{int64(0), int64(1), int64(86399999999)},
			func(r *rand.Rand) any { return r.Int64N(86_400_000_000) }},
		{"timestamp", kind(record.KindTimestamp), instants, micros},
		{"timestamptz", kind(record.KindTimestampTZ), instants, micros},
		{"timestamp_ns", kind(record.KindTimestampNs), finest, nanos},
		{"timestamptz_ns", kind(record.KindTimestampTZNs), finest, nanos},
		{"uuid", kind(record.KindUUID), texts(strings.Repeat("\x00", 16), strings.Repeat("\xFF", 16), "0123456789abcdef",
			"\x80"+strings.Repeat("\x00", 15)), bytesOf(16, 16, 256)},
		{"fixed_1", record.Type{Kind: record.KindFixed, Length: 1}, texts("\x00", "\x7F", "\x80", "\xFF"),
			bytesOf(1, 1, 256)},
		{"fixed_11", record.Type{Kind: record.KindFixed, Length: 11}, texts(strings.Repeat("\x00", 11),
			strings.Repeat("\xFF", 11), "\x80 two hands"), bytesOf(11, 11, 4)},
		{"binary", kind(record.KindBinary), texts("", "\x00", "\x00\xFF\x80", "longer than sixteen bytes",
			strings.Repeat("\xFF", 40)), bytesOf(0, 40, 256)},
		{"string", kind(record.KindString), texts("", "a", "\x00", "\"\\/\b\f\n\r\t\x7F",
			"Z\u00FCrich \u65E5\u672C \U0001F600", "longer than sixteen characters", strings.Repeat("\U0010FFFF", 20),
			strings.Repeat("\u00E9", 15)+"\uD7FF\uE000"),
			randomText},
	}
}

func texts(ss ...string) []any {
	var out []any
	for _, s := range ss {
		out = append(out, []byte(s))
	}
	return out
}

func floats32() []any {
	return []any{float32(0), float32(math.Copysign(0, -1)), float32(-1.5), float32(math.NaN()), float32(math.Inf(1)),
		float32(math.Inf(-1)), float32(math.MaxFloat32), float32(-math.MaxFloat32), float32(math.SmallestNonzeroFloat32)}
}

func floats64() []any {
	return []any{0.0, math.Copysign(0, -1), -1.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, 0.1}
}

// bytesOf is byte strings of a length between low and high with bytes below the given number.
func bytesOf(low, high, alphabet int) func(r *rand.Rand) any {
	return func(r *rand.Rand) any {
		b := make([]byte, low+r.IntN(high-low+1))
		for i := range b {
			b[i] = byte(r.IntN(alphabet))
		}
		return b
	}
}

// randomText starts alike, as keys and addresses do, and is now and then longer than a page.
func randomText(r *rand.Rand) any {
	alphabet := []rune("abcdefghij \u00E9\u65E5\U0001F600")
	n := r.IntN(20)
	if r.IntN(60) == 0 {
		n = 800
	}
	out := []rune("https://\u00FC.example/"[:8+r.IntN(2)*10])
	for range n {
		out = append(out, alphabet[r.IntN(len(alphabet))])
	}
	return []byte(string(out))
}

func decimalLeaf(name string, precision, scale int) leaf {
	typ := record.Type{Kind: record.KindDecimal, Precision: precision, Scale: scale}
	end := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	most := new(big.Int).Sub(end, big.NewInt(1))
	value := func(x *big.Int) any { return unscaled(precision, x) }
	return leaf{name, typ,
		[]any{value(big.NewInt(0)), value(big.NewInt(1)), value(big.NewInt(-1)), value(most), value(new(big.Int).Neg(most))},
		func(r *rand.Rand) any {
			x := new(big.Int).SetUint64(r.Uint64())
			x.Mul(x, new(big.Int).SetUint64(r.Uint64())).Rsh(x, uint(r.IntN(120)))
			x.Mod(x, end)
			if r.IntN(2) == 0 {
				x.Neg(x)
			}
			return value(x)
		}}
}

// unscaled is a decimal as record.Column has it.
func unscaled(precision int, x *big.Int) any {
	if precision <= 18 {
		return x.Int64()
	}
	y := new(big.Int).Set(x)
	if y.Sign() < 0 {
		y.Add(y, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return y.FillBytes(make([]byte, 16))
}

// bigOf is the number in big-endian two's complement.
func bigOf(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

// bigOfDecimal is the unscaled value of a decimal as record.Column has it.
func bigOfDecimal(v any) *big.Int {
	if b, ok := v.([]byte); ok {
		return bigOf(b)
	}
	return big.NewInt(v.(int64))
}
