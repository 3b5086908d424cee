package bigquery

import (
	"math"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Kinds as the tests name them.
const (
	kindDate       = storagepb.TableFieldSchema_DATE
	kindTime       = storagepb.TableFieldSchema_TIME
	kindDatetime   = storagepb.TableFieldSchema_DATETIME
	kindTimestamp  = storagepb.TableFieldSchema_TIMESTAMP
	kindNumeric    = storagepb.TableFieldSchema_NUMERIC
	kindBigNumeric = storagepb.TableFieldSchema_BIGNUMERIC
)

func of(k kind, t protoType) *field { return &field{col: &column{kind: k}, typ: t} }

func TestValues(t *testing.T) {
	str := func(s string) scalar { return scalar{bytes: []byte(s)} }
	num := func(n int64) scalar { return scalar{bits: uint64(n)} }
	for _, c := range []struct {
		name string
		f    *field
		s    scalar
		want any // nil: refused
	}{
		{"int64", of(storagepb.TableFieldSchema_INT64, int64Type), num(-5), int64(-5)},
		{"int32", of(storagepb.TableFieldSchema_INT64, int32Type), num(-5), int64(-5)},
		{"sint64", of(storagepb.TableFieldSchema_INT64, descriptorpb.FieldDescriptorProto_TYPE_SINT64), num(9), int64(-5)},
		{"uint32", of(storagepb.TableFieldSchema_INT64, descriptorpb.FieldDescriptorProto_TYPE_UINT32),
			num(math.MaxUint32), int64(math.MaxUint32)},
		{"double", of(storagepb.TableFieldSchema_DOUBLE, doubleType), scalar{bits: math.Float64bits(1.5)}, 1.5},
		{"float", of(storagepb.TableFieldSchema_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_FLOAT),
			scalar{bits: uint64(math.Float32bits(1.5))}, 1.5},
		{"bool", of(storagepb.TableFieldSchema_BOOL, boolType), num(1), true},
		{"json", of(storagepb.TableFieldSchema_JSON, stringType), str(`{"a":1}`), `{"a":1}`},
		{"bad json", of(storagepb.TableFieldSchema_JSON, stringType), str(`{"a":`), nil},
		{"geography", of(storagepb.TableFieldSchema_GEOGRAPHY, stringType), str("POINT(1 2)"), "POINT(1 2)"},
		{"bad geography", of(storagepb.TableFieldSchema_GEOGRAPHY, stringType), str("POINTS(1 2)"), nil},

		{"date", of(kindDate, int32Type), num(0), "1970-01-01"},
		{"first date", of(kindDate, int32Type), num(-719162), "0001-01-01"},
		{"before it", of(kindDate, int32Type), num(-719163), nil},
		{"last date", of(kindDate, int32Type), num(2932896), "9999-12-31"},
		{"after it", of(kindDate, int32Type), num(2932897), nil},
		{"date text", of(kindDate, stringType), str("2026-1-02"), "2026-01-02"},
		{"old date text", of(kindDate, stringType), str("0001-01-01"), "0001-01-01"},
		{"bad date text", of(kindDate, stringType), str("2026-02-30"), nil},

		{"time", of(kindTime, int64Type), num(3<<32 | 4<<26 | 5<<20 | 6), "03:04:05.000006"},
		{"bad hour", of(kindTime, int64Type), num(24 << 32), nil},
		{"bad micros", of(kindTime, int64Type), num(1_000_000), nil},
		{"above a time", of(kindTime, int64Type), num(1 << 37), nil},
		{"negative time", of(kindTime, int64Type), num(-1), nil},
		{"time text", of(kindTime, stringType), str("3:04:05.5"), "03:04:05.500000"},
		{"bad time text", of(kindTime, stringType), str("3:04"), nil},

		{"datetime", of(kindDatetime, int64Type), num(2026<<46 | 1<<42 | 2<<37 | 3<<32 | 4<<26 | 5<<20 | 6),
			"2026-01-02T03:04:05.000006"},
		{"bad month", of(kindDatetime, int64Type), num(2026<<46 | 13<<42 | 2<<37), nil},
		{"bad day", of(kindDatetime, int64Type), num(2026<<46 | 2<<42 | 30<<37), nil},
		{"year 0", of(kindDatetime, int64Type), num(1<<42 | 1<<37), nil},
		{"micros in place of a datetime", of(kindDatetime, int64Type), num(1767323045000006), nil},
		{"datetime text", of(kindDatetime, stringType), str("2026-01-02 03:04:05"), "2026-01-02T03:04:05.000000"},
		{"datetime text with T", of(kindDatetime, stringType), str("2026-01-02T03:04:05.1"), "2026-01-02T03:04:05.100000"},

		{"timestamp", of(kindTimestamp, int64Type), num(-1), time.UnixMicro(-1).UTC()},
		{"nanoseconds in its place", of(kindTimestamp, int64Type), num(1767323045000006000), nil},
		{"timestamp text", of(kindTimestamp, stringType), str("2026-01-02T03:04:05+01:30"),
			time.Date(2026, 1, 2, 1, 34, 5, 0, time.UTC)},
		{"timestamp text in UTC", of(kindTimestamp, stringType), str("2026-01-02 03:04:05.000006 UTC"),
			time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)},
		{"bad timestamp text", of(kindTimestamp, stringType), str("yesterday"), nil},

		{"numeric bytes", of(kindNumeric, bytesType), scalar{bytes: []byte{0x00, 0x2f, 0x68, 0x59}}, "1.5"},
		{"negative numeric bytes", of(kindNumeric, bytesType), scalar{bytes: []byte{0xff}}, "-0.000000001"},
		{"numeric text", of(kindNumeric, stringType), str("-12.340"), "-12.34"},
		{"numeric exponent", of(kindNumeric, stringType), str("1.5e3"), "1500"},
		{"rounded numeric", of(kindNumeric, stringType), str("0.0000000005"), "0.000000001"},
		{"largest numeric", of(kindNumeric, stringType), str("99999999999999999999999999999.999999999"),
			"99999999999999999999999999999.999999999"},
		{"beyond it", of(kindNumeric, stringType), str("100000000000000000000000000000"), nil},
		{"numeric integer", of(kindNumeric, int64Type), num(-7), "-7"},
		{"numeric double", of(kindNumeric, doubleType), scalar{bits: math.Float64bits(0.25)}, "0.25"},
		{"numeric NaN", of(kindNumeric, doubleType), scalar{bits: math.Float64bits(math.NaN())}, nil},
		{"numeric without an exponent", of(kindNumeric, stringType), str("1e"), nil},
		{"numeric with more behind", of(kindNumeric, stringType), str("1e5x"), nil},
		{"large exponent", of(kindNumeric, stringType), str("0e101"), nil},
		{"bad numeric", of(kindNumeric, stringType), str("1/2"), nil},
		{"empty numeric", of(kindNumeric, bytesType), scalar{}, nil},
		{"long numeric", of(kindNumeric, bytesType), scalar{bytes: make([]byte, 17)}, nil},
		{"bignumeric", of(kindBigNumeric, stringType), str("0.00000000000000000000000000000000000001"),
			"0.00000000000000000000000000000000000001"},
		{"lowest bignumeric", of(kindBigNumeric, bytesType), scalar{bytes: append(make([]byte, 31), 0x80)},
			"-578960446186580977117854925043439539266.34992332820282019728792003956564819968"},
		{"bignumeric beyond", of(kindBigNumeric, stringType), str("6e38"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			reason := check(c.f, c.s)
			if c.want == nil {
				if reason == "" {
					t.Errorf("it is taken for %v", convert(c.f, c.s))
				}
				return
			}
			if reason != "" {
				t.Fatal(reason)
			}
			if got := convert(c.f, c.s); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		name string
		col  column
		text string
		ok   bool
	}{
		{"string", column{kind: storagepb.TableFieldSchema_STRING, lengthMax: 2}, "\u00e4\u00f6", true},
		{"long string", column{kind: storagepb.TableFieldSchema_STRING, lengthMax: 2}, "abc", false},
		{"numeric", column{kind: kindNumeric, precision: 3, scale: 1}, "99.9", true},
		{"large numeric", column{kind: kindNumeric, precision: 3, scale: 1}, "100", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			reason := check(&field{col: &c.col, typ: stringType}, scalar{bytes: []byte(c.text)})
			if (reason == "") != c.ok {
				t.Errorf("reason %q", reason)
			}
		})
	}
}

func TestSequences(t *testing.T) {
	for _, c := range []struct{ lower, higher string }{
		{"0", "1"}, {"FFF/B", "FFF/ABC"}, {"BA/FFFFFFFF", "ABC"}, {"ABC", "FFF/ABC"}, {"FFF", "FFF/0"}, {"0a", "B"},
		{"1/2/3/4", "1/2/3/ffffffffffffffff"},
	} {
		lower, ok := parseSequence(c.lower)
		higher, ok2 := parseSequence(c.higher)
		if !ok || !ok2 || compareSequences(lower, higher) >= 0 || compareSequences(higher, lower) <= 0 {
			t.Errorf("%s is not below %s", c.lower, c.higher)
		}
	}
	for _, bad := range []string{"", "/", "1/", "/1", "g", "-1", "1/2/3/4/5", "00000000000000000"} {
		if _, ok := parseSequence(bad); ok {
			t.Errorf("%q is taken for a sequence number", bad)
		}
	}
}
