package decode

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"firn/internal/record"
)

// field is a column, struct member, list element, map key or map value as the decoder needs it: what its key looks
// like, which values it takes, and where they go. The first fields are those that every value touches.
type field struct {
	// The key as it usually stands in the text, quotes and colon included, and its first and last word with the bits of
	// them that count. See stands.
	keyHead, keyTail, keyMask uint64
	keyTailAt                 int
	keyBytes                  int
	keyReach                  int // bytes that the comparison reads

	next     *field         // whose key followed last time: the prediction
	col      *record.Column // of the batch at hand
	seen     uint64         // object.generation when the key was last met, or ignored
	kind     record.Kind
	textual  bool // a JSON string may hold the value
	required bool

	keyText   string
	low, high int64 // of integer literals
	scale     int64 // from an integer literal's unit to the column's
	object    *object
	depth     int    // of the map itself, or of what the text of any value stands in
	key       *field // of a map
	element   *field // of a list, or the value of a map
	nullAt    int    // where a null was last met
	typ       record.Type
	path      string // dotted
	typeText  string // for reasons
}

// kindJSON is the kind of a string column that takes the text of any value. It is none of record's, so that the switch
// in value need not look for it.
const kindJSON = record.KindMap + 1

// ignored is what field.seen is of a key that the schema does not have.
const ignored = math.MaxUint64

// object is a struct, or the whole record.
type object struct {
	head       field  // its next is the first key's prediction
	unknown    field  // stands for keys that are not remembered; no text is its key
	generation uint64 // counts the objects read, so that field.seen need not be cleared
	fields     []field
	required   []*field
	index      map[string]*field
	ignores    int // entries of index that are ignored
	path       string
	depth      int // of the object itself; the record is 1
}

// compiler gathers every fault of a schema.
type compiler struct {
	options JSONOptions
	faults  []error
}

func compile(root *object, schema *record.Schema, o JSONOptions) error {
	c := compiler{options: o}
	c.object(root, schema.Fields, "", 1)
	return errors.Join(c.faults...)
}

func (c *compiler) fault(path, format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("field %s: %s", path, fmt.Sprintf(format, args...)))
}

// object compiles fields into o, which must not move afterwards.
func (c *compiler) object(o *object, fields []record.Field, path string, depth int) {
	o.path, o.depth = path, depth
	o.fields = make([]field, len(fields))
	o.index = make(map[string]*field, len(fields))
	o.unknown = field{seen: ignored, keyReach: math.MaxInt, next: &o.unknown}
	last := &o.head
	for i := range fields {
		f := &o.fields[i]
		c.field(f, &fields[i], join(path, fields[i].Name), depth)
		if _, twice := o.index[fields[i].Name]; twice {
			c.fault(f.path, "there are two fields of this name")
		}
		if !utf8.ValidString(fields[i].Name) {
			c.fault(f.path, "the name is not valid UTF-8")
		}
		o.index[fields[i].Name] = f
		if f.required {
			o.required = append(o.required, f)
		}
		last.next, last = f, f
	}
	last.next = &o.unknown
}

// field compiles one field that stands inside a container of the given depth.
func (c *compiler) field(f *field, r *record.Field, path string, depth int) {
	f.setKey(r.Name)
	f.kind, f.typ, f.required, f.path = r.Type.Kind, r.Type, r.Required, path
	f.low, f.high, f.scale = integerRange(r.Type)
	f.textual = c.textual(r.Type.Kind)
	switch r.Type.Kind {
	case record.KindStruct, record.KindList, record.KindMap:
		f.typeText = r.Type.Kind.String()
		c.container(f, r, depth+1)
		return
	case record.KindDecimal:
		if r.Type.Precision < 1 || r.Type.Precision > 38 {
			c.fault(path, "decimal precision %d is not in 1 to 38", r.Type.Precision)
		} else if r.Type.Scale < 0 || r.Type.Scale > r.Type.Precision {
			c.fault(path, "decimal scale %d is not in 0 to %d", r.Type.Scale, r.Type.Precision)
		}
	case record.KindFixed:
		if r.Type.Length < 1 {
			c.fault(path, "a fixed of %d bytes holds nothing", r.Type.Length)
		}
	case record.KindString:
		if r.Type.JSON {
			f.kind, f.depth = kindJSON, depth
		}
	default:
		if r.Type.Kind == record.KindInvalid || r.Type.Kind > record.KindMap {
			c.fault(path, "type %s cannot be filled from JSON", r.Type.Kind)
		}
	}
	f.typeText = r.Type.String()
}

// container compiles what is inside of a struct, list or map, which stands at the given depth.
func (c *compiler) container(f *field, r *record.Field, depth int) {
	if depth > c.options.DepthMax {
		c.fault(f.path, "the schema nests deeper than depth_max %d", c.options.DepthMax)
		return
	}
	inner := r.Type.Fields
	switch {
	case f.kind == record.KindStruct:
		f.object = &object{}
		c.object(f.object, inner, f.path, depth)
	case f.kind == record.KindList && len(inner) == 1:
		f.element = &field{}
		c.field(f.element, &inner[0], join(f.path, "element"), depth)
	case f.kind == record.KindMap && len(inner) == 2:
		f.depth, f.key, f.element = depth, &field{}, &field{}
		c.field(f.key, &inner[0], join(f.path, "key"), depth)
		c.field(f.element, &inner[1], join(f.path, "value"), depth)
		if k := inner[0].Type.Kind; k == record.KindStruct || k == record.KindList || k == record.KindMap {
			c.fault(f.key.path, "a JSON key cannot hold a %s", k)
		}
		if inner[0].Type.JSON {
			c.fault(f.key.path, "a JSON key is no JSON value")
		}
	default:
		c.fault(f.path, "a %s of %d inner fields", f.kind, len(inner))
	}
}

// textual tells whether a JSON string may fill the kind.
func (c *compiler) textual(k record.Kind) bool {
	switch k {
	case record.KindInt, record.KindLong, record.KindFloat, record.KindDouble:
		return c.options.AcceptNumbersInStrings
	case record.KindBoolean, record.KindStruct, record.KindList, record.KindMap:
		return false
	default:
		return true
	}
}

// integerRange is what an integer literal may be for the type, and by how much it is less than the column's value.
func integerRange(t record.Type) (low, high, scale int64) {
	switch t.Kind {
	case record.KindInt, record.KindDate:
		return math.MinInt32, math.MaxInt32, 1
	case record.KindTime:
		low, high = 0, microsPerDay-1
	default:
		low, high = math.MinInt64, math.MaxInt64
	}
	scale = 1
	if t.Millis {
		scale = 1000
	}
	return low / scale, high / scale, scale
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// setKey compiles the field's key.
func (f *field) setKey(name string) {
	f.keyText = quoteKey(name) + ":"
	f.keyBytes = len(f.keyText)
	f.keyReach = max(f.keyBytes, 2*wordBytes)
	f.keyTailAt = max(0, f.keyBytes-wordBytes)
	f.keyMask = math.MaxUint64
	if f.keyBytes < wordBytes {
		f.keyMask = 1<<(8*f.keyBytes) - 1
	}
	text := append([]byte(f.keyText), make([]byte, wordBytes)...)
	f.keyHead, f.keyTail = word(text, 0), word(text, f.keyTailAt)
}

// quoteKey is the usual JSON text of a name. Other spellings of it are found by unescaping.
func quoteKey(name string) string {
	var s strings.Builder
	s.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			s.WriteByte('\\')
			s.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&s, `\u%04x`, c)
		default:
			s.WriteByte(c)
		}
	}
	s.WriteByte('"')
	return s.String()
}
