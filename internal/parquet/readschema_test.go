package parquet

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// encodeSchema is a footer of a schema and nothing else.
func encodeSchema(t *testing.T, elements ...format.SchemaElement) []byte {
	t.Helper()
	w := NewPool(0).borrow()
	b, err := w.encode(&joinedMeta{Schema: elements})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b)
}

func group(name string, children int32) format.SchemaElement {
	return format.SchemaElement{Name: name, NumChildren: thrift.New(children)}
}

// TestOldAnnotations reads converted types as the logical types that they mean.
func TestOldAnnotations(t *testing.T) {
	for _, s := range samples() {
		l, err := newLayout(&record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: s.typ}}})
		if err != nil {
			t.Fatal(err)
		}
		e := l.elements[1]
		if e.LogicalType.Value == nil || !e.ConvertedType.Valid {
			continue
		}
		both, err := parseFooter(encodeSchema(t, group("table", 1), e))
		if err != nil {
			t.Fatal(err)
		}
		e.LogicalType = format.LogicalType{}
		old, err := parseFooter(encodeSchema(t, group("schema", 1), e))
		if err != nil {
			t.Fatal(err)
		}
		if both.leaves[0] != old.leaves[0] {
			t.Errorf("%s: %s with the converted type alone, %s with both", s.name, old.leaves[0].shape, both.leaves[0].shape)
		}
	}
}

// TestOtherAnnotations tells types apart that have the same bytes, and takes those for equal that mean the same.
func TestOtherAnnotations(t *testing.T) {
	leaf := func(physical format.Type, change func(e *format.SchemaElement)) shape {
		e := format.SchemaElement{Name: "c", FieldID: 1, Type: thrift.New(physical),
			RepetitionType: thrift.New(format.Optional)}
		change(&e)
		f, err := parseFooter(encodeSchema(t, group("table", 1), e))
		if err != nil {
			t.Fatal(err)
		}
		return f.leaves[0].shape
	}
	logical := func(v format.LogicalTypeValue) func(e *format.SchemaElement) {
		return func(e *format.SchemaElement) { e.LogicalType.Value = v }
	}
	converted := func(v deprecated.ConvertedType) func(e *format.SchemaElement) {
		return func(e *format.SchemaElement) { e.ConvertedType = thrift.New(v) }
	}
	none := func(*format.SchemaElement) {}
	micros, nanos := format.TimeUnit{Value: &format.MicroSeconds{}}, format.TimeUnit{Value: &format.NanoSeconds{}}
	for name, c := range map[string]struct {
		a, b shape
		same bool
	}{
		"whole number": {leaf(format.Int64, none), leaf(format.Int64, converted(deprecated.Int64)), true},
		"whole number, logical": {leaf(format.Int32, none),
			leaf(format.Int32, logical(&format.IntType{BitWidth: 32, IsSigned: true})), true},
		"byte":     {leaf(format.Int32, none), leaf(format.Int32, converted(deprecated.Int8)), false},
		"unsigned": {leaf(format.Int64, none), leaf(format.Int64, converted(deprecated.Uint64)), false},
		"unsigned, both ways": {leaf(format.Int32, converted(deprecated.Uint16)),
			leaf(format.Int32, logical(&format.IntType{BitWidth: 16})), true},
		"time in UTC": {leaf(format.Int64, logical(&format.TimeType{Unit: micros})),
			leaf(format.Int64, logical(&format.TimeType{Unit: micros, IsAdjustedToUTC: true})), true},
		"instant": {leaf(format.Int64, logical(timestamp(true, micros.Value))),
			leaf(format.Int64, logical(timestamp(false, micros.Value))), false},
		"nanoseconds": {leaf(format.Int64, logical(timestamp(true, micros.Value))),
			leaf(format.Int64, logical(timestamp(true, nanos.Value))), false},
		"milliseconds": {leaf(format.Int64, logical(timestamp(true, micros.Value))),
			leaf(format.Int64, converted(deprecated.TimestampMillis)), false},
		"text":  {leaf(format.ByteArray, none), leaf(format.ByteArray, converted(deprecated.UTF8)), false},
		"enum":  {leaf(format.ByteArray, converted(deprecated.Enum)), leaf(format.ByteArray, none), false},
		"width": {leaf(format.FixedLenByteArray, none), leaf(format.Int96, none), false},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: %s and %s", name, c.a, c.b)
		}
	}
}

// TestWrongSchemas says what is wrong with a tree of columns.
func TestWrongSchemas(t *testing.T) {
	leaf := format.SchemaElement{Name: "c", Type: thrift.New(format.Int32)}
	deep := []format.SchemaElement{}
	for range levelMax + 2 {
		deep = append(deep, group("g", 1))
	}
	repeated := leaf
	repeated.RepetitionType = thrift.New(format.FieldRepetitionType(7))
	for name, c := range map[string]struct {
		elements []format.SchemaElement
		want     string
	}{
		"none":       {nil, "is empty"},
		"too few":    {[]format.SchemaElement{group("table", 3), leaf}, "has 3 children, more than"},
		"too many":   {[]format.SchemaElement{group("table", 1), leaf, leaf}, "3 elements and 2 of them"},
		"deep":       {append(deep, leaf), "deeper than 255"},
		"repetition": {[]format.SchemaElement{group("table", 1), repeated}, "unknown repetition 7"},
	} {
		if _, err := parseFooter(encodeSchema(t, c.elements...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// TestHostileThrift does not believe lengths.
func TestHostileThrift(t *testing.T) {
	for name, b := range map[string][]byte{
		"long list":   {0x49, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07},
		"long binary": {0x68, 0xFF, 0xFF, 0xFF, 0xFF, 0x07},
		"nested":      bytes.Repeat([]byte{0x1C}, 1<<20),
		"lists":       append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...),
		"long map":    {0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0x88},
		"no type":     {0x1F},
		"no end":      {0x16, 0x02},
		"long number": append([]byte{0x16}, bytes.Repeat([]byte{0xFF}, 11)...),
		"wrong type":  {0x38, 0x00, 0x00},
	} {
		if _, err := parseFooter(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := compact{b: []byte{
		0x11, 0x12, 0x13, 7, 0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0x1B, 2, 0x13, 1, 1, 2, 2, 0x1A, 0x21, 1, 2, 0,
	}}
	c.skip(compactStruct)
	if c.err != nil || c.at != len(c.b) {
		t.Errorf("skipped %d of %d bytes, error %v", c.at, len(c.b), c.err)
	}
	if h, err := parsePageHead([]byte{0x15}); !errors.Is(err, errCut) {
		t.Errorf("page header %+v of one byte, error %v", h, err)
	}
}
