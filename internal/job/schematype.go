package job

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// typeDepthMax bounds how deep types nest, as does the decoder.
const typeDepthMax = 100

// checkType checks an Iceberg type in text form (spec section "Schemas and Data Types"; nested types as Iceberg prints
// them): the grammar of decode.ParseType, which makes columns of it, so that a mistake is told with its line. It
// reports no more than the first mistake of a type.
func checkType(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("it is not valid UTF-8")
	}
	s := typeScanner{rest: text}
	if err := s.typ(1); err != nil {
		return err
	}
	if s.space(); s.rest != "" {
		return fmt.Errorf("%q is left over", s.rest)
	}
	return nil
}

type typeScanner struct{ rest string }

func (s *typeScanner) space() { s.rest = strings.TrimLeft(s.rest, " \t\n\r") }

func (s *typeScanner) typ(depth int) error {
	if depth > typeDepthMax {
		return errors.New("it nests too deep")
	}
	switch name := strings.ToLower(s.word()); name {
	case "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz",
		"timestamp_ns", "timestamptz_ns", "uuid", "binary", "string":
		return nil
	case "decimal":
		return s.decimal()
	case "fixed":
		return s.fixed()
	case "list":
		return s.enclosed("list", depth, 1)
	case "map":
		return s.enclosed("map", depth, 2)
	case "struct":
		return s.structFields(depth)
	case "":
		return errors.New("a type is missing")
	default:
		return fmt.Errorf("unknown type %q", name)
	}
}

func (s *typeScanner) word() string {
	s.space()
	end := strings.IndexAny(s.rest, " \t\r\n:<>()[],")
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

func (s *typeScanner) expect(token string) error {
	s.space()
	if !strings.HasPrefix(s.rest, token) {
		return fmt.Errorf("expected %q before %q", token, s.rest)
	}
	s.rest = s.rest[len(token):]
	return nil
}

func (s *typeScanner) count(least, most int) (int, error) {
	digits := s.word()
	n, err := strconv.Atoi(digits)
	if err != nil || n < least || n > most || strings.ContainsAny(digits, "+-") {
		return 0, fmt.Errorf("%q is not a number from %d to %d", digits, least, most)
	}
	return n, nil
}

func (s *typeScanner) decimal() error {
	if err := s.expect("("); err != nil {
		return err
	}
	precision, err := s.count(1, 38)
	if err != nil {
		return fmt.Errorf("precision %w", err)
	}
	if err := s.expect(","); err != nil {
		return err
	}
	if _, err := s.count(0, precision); err != nil {
		return fmt.Errorf("scale %w", err)
	}
	return s.expect(")")
}

func (s *typeScanner) fixed() error {
	if err := s.expect("["); err != nil {
		return err
	}
	if _, err := s.count(1, math.MaxInt32); err != nil {
		return fmt.Errorf("length %w", err)
	}
	return s.expect("]")
}

// enclosed reads <T> or <K, V>.
func (s *typeScanner) enclosed(name string, depth, count int) error {
	if err := s.expect("<"); err != nil {
		return fmt.Errorf("in %s: %w", name, err)
	}
	for i := range count {
		if i > 0 {
			if err := s.expect(","); err != nil {
				return fmt.Errorf("in %s: %w", name, err)
			}
		}
		s.skipRequired()
		if err := s.typ(depth + 1); err != nil {
			return fmt.Errorf("in %s: %w", name, err)
		}
	}
	return s.expect(">")
}

// structFields reads <name: type, name: required type, ...>.
func (s *typeScanner) structFields(depth int) error {
	if err := s.expect("<"); err != nil {
		return fmt.Errorf("in struct: %w", err)
	}
	seen := map[string]bool{}
	for {
		name := s.word()
		if name == "" {
			return fmt.Errorf("in struct: expected NAME: TYPE before %q", s.rest)
		}
		if err := s.expect(":"); err != nil {
			return fmt.Errorf("in struct: %w", err)
		}
		if seen[name] {
			return fmt.Errorf("in struct: field %q is there twice", name)
		}
		seen[name] = true
		s.skipRequired()
		if err := s.typ(depth + 1); err != nil {
			return fmt.Errorf("in struct field %s: %w", name, err)
		}
		if s.space(); strings.HasPrefix(s.rest, ",") {
			s.rest = s.rest[1:]
			continue
		}
		return s.expect(">")
	}
}

// skipRequired skips the word required before a type.
func (s *typeScanner) skipRequired() {
	before := s.rest
	if !strings.EqualFold(s.word(), "required") {
		s.rest = before
	}
}
