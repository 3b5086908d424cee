package decode

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"firn/internal/record"
)

// ParseType reads a type as Iceberg writes it: long, decimal(9,2), fixed[16], list<string>, map<string, long>,
// struct<a: int, b: string>. Inside of <> the word required before a type makes the field, element or value required:
// struct<a: required int>. Blanks and the case of type names do not matter; names of fields hold no blank and none of
// :<>()[], and the comma. Field ids are left 0. Errors say at which byte, from 0.
func ParseType(text string) (record.Type, error) {
	s := typeText{text: text}
	if !utf8.ValidString(text) {
		return record.Type{}, errors.New("reading type: the text is not valid UTF-8")
	}
	f := s.field("", 1)
	if f.Required {
		s.fail(0, "required stands before a type inside of <> only")
	}
	if s.blanks(); s.p < len(text) {
		s.fail(s.p, "text after the type")
	}
	if s.err != nil {
		return record.Type{}, fmt.Errorf("reading type %s: %w", excerpt([]byte(text)), s.err)
	}
	return f.Type, nil
}

// typeText is a type's text that is read up to p. After a fault it is at its end, so that all reading stops.
type typeText struct {
	text string
	p    int
	err  error // the first fault
}

func (s *typeText) fail(at int, format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at byte %d: %s", at, fmt.Sprintf(format, args...))
	}
	s.p = len(s.text)
}

// field reads a type, with required before it or not.
func (s *typeText) field(name string, depth int) record.Field {
	f := record.Field{Name: name}
	at, word := s.word()
	if strings.EqualFold(word, "required") {
		f.Required = true
		at, word = s.word()
	}
	if depth > typeDepthMax {
		s.fail(at, "nested deeper than %d", typeDepthMax)
		return f
	}
	switch word = strings.ToLower(word); word {
	case "":
		s.fail(at, "expected a type, found %s", s.found())
	case "decimal":
		f.Type = s.decimal()
	case "fixed":
		f.Type = record.Type{Kind: record.KindFixed}
		s.expect('[')
		f.Type.Length = s.number(1, math.MaxInt32)
		s.expect(']')
	case "list", "map", "struct":
		s.expect('<')
		f.Type = s.container(word, depth)
		s.expect('>')
	default:
		f.Type.Kind = primitive(word)
		if f.Type.Kind == record.KindInvalid {
			s.fail(at, "there is no type %s", excerpt([]byte(word)))
		}
	}
	return f
}

// primitive is the kind of a name that stands alone, or invalid.
func primitive(name string) record.Kind {
	for k := record.KindBoolean; k < record.KindStruct; k++ {
		if k.String() == name && k != record.KindDecimal && k != record.KindFixed {
			return k
		}
	}
	return record.KindInvalid
}

func (s *typeText) decimal() record.Type {
	t := record.Type{Kind: record.KindDecimal}
	s.expect('(')
	t.Precision = s.number(1, 38)
	s.expect(',')
	t.Scale = s.number(0, t.Precision)
	s.expect(')')
	return t
}

// container reads what is between < and >.
func (s *typeText) container(word string, depth int) record.Type {
	switch word {
	case "list":
		return record.Type{Kind: record.KindList, Fields: []record.Field{s.field("element", depth+1)}}
	case "map":
		key := s.field("key", depth+1)
		key.Required = true
		s.expect(',')
		return record.Type{Kind: record.KindMap, Fields: []record.Field{key, s.field("value", depth+1)}}
	default:
		return record.Type{Kind: record.KindStruct, Fields: s.members(depth + 1)}
	}
}

// members reads a: int, b: string.
func (s *typeText) members(depth int) []record.Field {
	var fields []record.Field
	names := map[string]bool{}
	for {
		at, name := s.word()
		if name == "" {
			s.fail(at, "expected the name of a field, found %s", s.found())
		}
		if names[name] {
			s.fail(at, "there are two fields %s", excerpt([]byte(name)))
		}
		names[name] = true
		s.expect(':')
		fields = append(fields, s.field(name, depth))
		if s.blanks(); s.p >= len(s.text) || s.text[s.p] != ',' {
			return fields
		}
		s.p++
	}
}

func (s *typeText) blanks() {
	for s.p < len(s.text) && (s.text[s.p] == ' ' || s.text[s.p] == '\t' || s.text[s.p] == '\n' || s.text[s.p] == '\r') {
		s.p++
	}
}

// word reads up to the next blank or mark; at is where it starts.
func (s *typeText) word() (at int, word string) {
	s.blanks()
	at = s.p
	n := strings.IndexAny(s.text[at:], " \t\r\n:<>()[],")
	if n < 0 {
		n = len(s.text) - at
	}
	s.p += n
	return at, s.text[at:s.p]
}

// number reads a plain integer within bounds.
func (s *typeText) number(low, high int) int {
	at, word := s.word()
	n, err := strconv.Atoi(word)
	if err != nil || n < low || n > high || word[0] == '+' || word[0] == '-' {
		s.fail(at, "expected a number from %d to %d", low, high)
		return low
	}
	return n
}

func (s *typeText) expect(mark byte) {
	if s.blanks(); s.p >= len(s.text) || s.text[s.p] != mark {
		s.fail(s.p, "expected %c, found %s", mark, s.found())
		return
	}
	s.p++
}

// found names what stands at p.
func (s *typeText) found() string {
	if s.p >= len(s.text) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.p:])
	return strconv.QuoteRune(r)
}
