package decode

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"firn/internal/record"
)

// excerptBytesMax bounds what a reason shows of the data, so that logs and dead letter headers stay small and tell
// little. It holds every number and timestamp that is not absurd.
const excerptBytesMax = 40

// fault is why a record was rejected.
type fault struct {
	path string
	at   int // byte of the record value, from 0
	what string
}

// fail notes a fault and returns the position that means one.
func (d *JSON) fail(path string, at int, what string) int {
	d.fault = fault{path, at, what}
	return -1
}

func (f fault) rejected(tp record.TopicPartition, r record.Record) record.Rejected {
	reason := fmt.Sprintf("at byte %d: %s", f.at, f.what)
	if f.path != "" {
		reason = "field " + f.path + " " + reason
	}
	return record.Rejected{TopicPartition: tp, Record: r, Field: f.path, Reason: reason}
}

func emptyReason(value []byte) string {
	switch {
	case value == nil:
		return "the record has a null value (a tombstone)"
	case len(value) == 0:
		return "the record value is empty"
	default:
		return "the record value is blank"
	}
}

// failExpected says that the value at p is of another type than the field.
func (d *JSON) failExpected(f *field, p int, expected string) int {
	return d.fail(f.path, p, fmt.Sprintf("expected %s for %s, found %s", expected, f.typeText, describe(d.b, p)))
}

// failText says that a string's text is not a value of the field's type.
func (d *JSON) failText(f *field, p int, t []byte, why string) int {
	return d.fail(f.path, p, fmt.Sprintf("%s is not a valid %s: %s", excerpt(t), f.typeText, why))
}

// describe names what stands at p, without its data.
func describe(b []byte, p int) string {
	if p >= len(b) {
		return "the end of the text"
	}
	switch c := b[p]; {
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '-' || c-'0' <= 9:
		return "a number"
	case hasLiteral(b, p, "null"), hasLiteral(b, p, "true"), hasLiteral(b, p, "false"):
		return map[byte]string{'n': "null", 't': "true", 'f': "false"}[c]
	case c < utf8.RuneSelf:
		return strconv.QuoteRune(rune(c))
	default:
		return fmt.Sprintf("byte 0x%02x", c)
	}
}

// excerpt quotes the head of t.
func excerpt(t []byte) string {
	if len(t) <= excerptBytesMax {
		return strconv.Quote(string(t))
	}
	return strconv.Quote(string(cut(t))) + "..."
}

// excerptNumber is the head of a number.
func excerptNumber(t []byte) string {
	if len(t) <= excerptBytesMax {
		return string(t)
	}
	return string(t[:excerptBytesMax]) + "..."
}

// cut shortens t to the excerpt's length and does not split a character.
func cut(t []byte) []byte {
	n := excerptBytesMax
	for n > excerptBytesMax-utf8.UTFMax && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}
