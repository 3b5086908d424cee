package bigquery

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/descriptorpb"
)

// walker checks rows: wire types, UTF-8, ranges of values, and that what is required is there. It allocates nothing for
// rows of the plain types. One goroutine.
type walker struct {
	seen   []uint64          // bits of the fields needed, of the messages around the one at hand
	fill   func(*field) bool // whether a missing one takes its default value
	reason string            // why the row is bad
}

// row checks a row.
func (w *walker) row(m *message, data []byte) bool {
	w.seen, w.reason = w.seen[:0], ""
	return w.message(m, data, true)
}

func (w *walker) fail(format string, args ...any) bool {
	w.reason = fmt.Sprintf(format, args...)
	return false
}

func (w *walker) message(m *message, data []byte, top bool) bool {
	from := len(w.seen)
	for range (m.needed + 63) / 64 {
		w.seen = append(w.seen, 0)
	}
	for len(data) > 0 {
		number, wire, n := tag(data)
		if n < 0 {
			return w.fail("Failed to parse the row: a tag is cut short or wrong")
		}
		data = data[n:]
		f := m.field(number)
		if f == nil {
			return w.fail("Failed to parse the row: field number %d is not in the writer schema", number)
		}
		if f.needed {
			w.seen[from+f.place/64] |= 1 << (f.place % 64)
		}
		if n = w.field(f, wire, data); n < 0 {
			return false
		}
		data = data[n:]
	}
	ok := m.needed == 0 || w.complete(m, from, top)
	w.seen = w.seen[:from]
	return ok
}

// complete tells whether all is there that is required.
func (w *walker) complete(m *message, from int, top bool) bool {
	for _, f := range m.fields {
		if !f.needed || w.seen[from+f.place/64]&(1<<(f.place%64)) != 0 {
			continue
		}
		if top && !f.labelled && w.fill != nil && w.fill(f) {
			continue
		}
		return w.fail("Field %s: required field is missing", f.name)
	}
	return true
}

// field checks the value or, packed, the values of a field, and returns their length; below 0 is a failure.
func (w *walker) field(f *field, wire protowire.Type, data []byte) int {
	if wire == f.wire {
		s, n := scalarOf(wire, data)
		if n < 0 {
			w.fail("Failed to parse the row: field %s is cut short", f.name)
			return -1
		}
		if !w.value(f, s) {
			return -1
		}
		return n
	}
	if wire != protowire.BytesType || !f.repeated || f.wire == protowire.BytesType {
		w.fail("Failed to parse the row: field %s has wire type %d in place of %d", f.name, wire, f.wire)
		return -1
	}
	packed, n := scalarOf(protowire.BytesType, data)
	if n < 0 {
		w.fail("Failed to parse the row: field %s is cut short", f.name)
		return -1
	}
	for rest := packed.bytes; len(rest) > 0; {
		s, n := scalarOf(f.wire, rest)
		if n < 0 {
			w.fail("Failed to parse the row: packed field %s is cut short", f.name)
			return -1
		}
		if !w.value(f, s) {
			return -1
		}
		rest = rest[n:]
	}
	return n
}

func (w *walker) value(f *field, s scalar) bool {
	if f.inner != nil {
		return w.message(f.inner, s.bytes, false)
	}
	if f.typ == descriptorpb.FieldDescriptorProto_TYPE_STRING && !utf8.Valid(s.bytes) {
		return w.fail("Field %s: invalid UTF-8 in a string", f.name)
	}
	if reason := check(f, s); reason != "" {
		return w.fail("Field %s: %s", f.name, reason)
	}
	return true
}

// scalar is a value on the wire: its bytes, or its bits.
type scalar struct {
	bytes []byte
	bits  uint64
}

// tag reads a tag; n is below 0 when there is none.
func tag(data []byte) (number protowire.Number, wire protowire.Type, n int) {
	v, n := uvarint(data)
	if n < 0 || v>>3 == 0 || v>>3 > uint64(protowire.MaxValidNumber) {
		return 0, 0, -1
	}
	return protowire.Number(v >> 3), protowire.Type(v & 7), n
}

func uvarint(data []byte) (uint64, int) {
	if len(data) > 0 && data[0] < 0x80 {
		return uint64(data[0]), 1
	}
	if len(data) > 1 && data[1] < 0x80 {
		return uint64(data[0]&0x7f) | uint64(data[1])<<7, 2
	}
	return protowire.ConsumeVarint(data)
}

// scalarOf reads a value; n is below 0 when it is cut short.
func scalarOf(wire protowire.Type, data []byte) (s scalar, n int) {
	switch wire {
	case protowire.VarintType:
		s.bits, n = uvarint(data)
	case protowire.BytesType:
		var length uint64
		length, n = uvarint(data)
		if n < 0 || length > uint64(len(data)-n) {
			return s, -1
		}
		s.bytes = data[n : n+int(length)]
		n += int(length)
	case protowire.Fixed64Type:
		if len(data) < 8 {
			return s, -1
		}
		return scalar{bits: binary.LittleEndian.Uint64(data)}, 8
	case protowire.Fixed32Type:
		if len(data) < 4 {
			return s, -1
		}
		return scalar{bits: uint64(binary.LittleEndian.Uint32(data))}, 4
	default:
		n = -1
	}
	return s, n
}
