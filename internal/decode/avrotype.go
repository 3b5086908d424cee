package decode

import (
	"math"
	"math/big"
	"strings"

	"firn/internal/record"
)

// avroPrimitive is the type of a primitive's name.
func avroPrimitive(name string) (t record.Type, ok bool) {
	kinds := map[string]record.Kind{
		"boolean": record.KindBoolean, "int": record.KindInt, "long": record.KindLong, "float": record.KindFloat,
		"double": record.KindDouble, "bytes": record.KindBinary, "string": record.KindString,
	}
	t.Kind, ok = kinds[name]
	return t, ok
}

// fixed reads a fixed with its logical type.
func (a *avroSchema) fixed(o map[string]any, at avroPlace) record.Type {
	size, ok := whole(o["size"], 1, math.MaxInt32)
	if !ok {
		return a.fault(at, "the size of a fixed must be a number from 1")
	}
	return a.logical(o, record.Type{Kind: record.KindFixed, Length: size}, at)
}

// logical applies the logical type of an object to the type that it annotates.
func (a *avroSchema) logical(o map[string]any, t record.Type, at avroPlace) record.Type {
	name, _ := o["logicalType"].(string)
	if name == "decimal" {
		return a.decimal(o, t, at)
	}
	annotated, ok := avroLogical(name, o["adjust-to-utc"] != false)
	switch {
	case !ok:
		return t
	case annotated.on == t.Kind:
	case name == "uuid" && t.Kind == record.KindFixed && t.Length == 16:
	default:
		return a.fault(at, "the logical type %s does not annotate %s", name, t)
	}
	return record.Type{Kind: annotated.is, Millis: strings.HasSuffix(name, "-millis")}
}

// annotation is what a logical type stands on, and what it is in a table.
type annotation struct{ on, is record.Kind }

// avroLogical is the annotation of a logical type; utc is whether a timestamp without local- before it is in UTC.
func avroLogical(name string, utc bool) (annotation, bool) {
	instant, instantNs := record.KindTimestampTZ, record.KindTimestampTZNs
	if !utc {
		instant, instantNs = record.KindTimestamp, record.KindTimestampNs
	}
	switch name {
	case "date":
		return annotation{record.KindInt, record.KindDate}, true
	case "time-millis":
		return annotation{record.KindInt, record.KindTime}, true
	case "time-micros":
		return annotation{record.KindLong, record.KindTime}, true
	case "timestamp-millis", "timestamp-micros":
		return annotation{record.KindLong, instant}, true
	case "timestamp-nanos":
		return annotation{record.KindLong, instantNs}, true
	case "local-timestamp-millis", "local-timestamp-micros":
		return annotation{record.KindLong, record.KindTimestamp}, true
	case "local-timestamp-nanos":
		return annotation{record.KindLong, record.KindTimestampNs}, true
	case "uuid":
		return annotation{record.KindString, record.KindUUID}, true
	default:
		return annotation{}, false
	}
}

// decimal reads the logical type decimal.
func (a *avroSchema) decimal(o map[string]any, t record.Type, at avroPlace) record.Type {
	if t.Kind != record.KindBinary && t.Kind != record.KindFixed {
		return a.fault(at, "the logical type decimal does not annotate %s", t)
	}
	precision, ok := whole(o["precision"], 1, 38)
	if !ok {
		return a.fault(at, "the precision of a decimal must be a number from 1 to 38")
	}
	scale := 0
	if o["scale"] != nil {
		if scale, ok = whole(o["scale"], 0, precision); !ok {
			return a.fault(at, "the scale of a decimal must be a number from 0 to its precision")
		}
	}
	if t.Kind == record.KindFixed && !fitsBytes(precision, t.Length) {
		return a.fault(at, "%s does not hold %d digits", t, precision)
	}
	return record.Type{Kind: record.KindDecimal, Precision: precision, Scale: scale}
}

// fitsBytes tells whether n bytes of two's complement hold any integer of that many digits.
func fitsBytes(digits, n int) bool {
	largest := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return largest.Sub(largest, big.NewInt(1)).BitLen() < n*8
}

// whole is an integer of JSON within bounds.
func whole(v any, low, high int) (n int, ok bool) {
	f, ok := v.(float64)
	if !ok || f != math.Trunc(f) || f < float64(low) || f > float64(high) {
		return 0, false
	}
	return int(f), true
}
