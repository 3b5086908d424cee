package job

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// typeDepthMax bounds how deep types nest, as does the decoder.
const typeDepthMax = 64

// checkType checks an Iceberg type in text form (spec section "Schemas and Data Types"; nested types as Iceberg prints
// them). It reports no more than the first mistake of a type.
func checkType(text string) error {
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
	switch name := s.word(); name {
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
	end := strings.IndexFunc(s.rest, func(r rune) bool {
		return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
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

func (s *typeScanner) number(least, most int) error {
	digits := s.word()
	n, err := strconv.Atoi(digits)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q is not a number from %d to %d", digits, least, most)
	}
	return nil
}

func (s *typeScanner) decimal() error {
	if err := s.expect("("); err != nil {
		return err
	}
	precision := s.word()
	p, err := strconv.Atoi(precision)
	if err != nil || p < 1 || p > 38 {
		return fmt.Errorf("precision %q is not a number from 1 to 38", precision)
	}
	if err := s.expect(","); err != nil {
		return err
	}
	if err := s.number(0, p); err != nil {
		return fmt.Errorf("scale %w", err)
	}
	return s.expect(")")
}

// fixedBytesMax is the length of a Java array, the most that other readers hold.
const fixedBytesMax = 1<<31 - 1

// fixed takes fixed[16], as Iceberg writes it, and fixed(16).
func (s *typeScanner) fixed() error {
	open, closing := "[", "]"
	if s.space(); strings.HasPrefix(s.rest, "(") {
		open, closing = "(", ")"
	}
	if err := s.expect(open); err != nil {
		return err
	}
	if err := s.number(1, fixedBytesMax); err != nil {
		return fmt.Errorf("length %w", err)
	}
	return s.expect(closing)
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
		name, after, ok := strings.Cut(s.rest, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, "<>,") {
			return fmt.Errorf("in struct: expected NAME: TYPE before %q", s.rest)
		}
		if seen[name] {
			return fmt.Errorf("in struct: field %q is there twice", name)
		}
		seen[name] = true
		s.rest = after
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

func (s *typeScanner) skipRequired() {
	s.space()
	if rest, ok := strings.CutPrefix(s.rest, "required "); ok {
		s.rest = rest
	}
}
