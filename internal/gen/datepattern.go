package gen

import (
	"strings"
	"time"
)

const (
	// dateDefault is the pattern of date() and of dates without a pattern in toTimestamp.
	dateDefault = "EEE, d MMM yyyy HH:mm:ss z"
	// dateInput is the pattern of the other dates that stand in a template.
	dateInput = "dd-MM-yyyy HH:mm:ss"
	// clockDefault is the pattern of time() and of the times that stand in a template.
	clockDefault = "h[:mm][ ]a"

	dateLetters  = "GyMLdDEuaHkKhmsSzZX"
	clockLetters = "aHkKhmsSn"

	// fractionLetter marks S in a time pattern: digits of the fraction of the second, where S in a date pattern is the
	// number of milliseconds.
	fractionLetter = 'f'
)

// datePattern is a compiled pattern of Java's SimpleDateFormat, in the locale en-US, in UTC and in the Gregorian
// calendar throughout (Java has the Julian one before 1582). It is immutable.
type datePattern struct {
	text  string
	items []dateItem
}

// dateItem is a field, or literal text when letter is 0.
type dateItem struct {
	letter  byte
	count   int
	literal string
}

func parseDatePattern(text string) (*datePattern, error) {
	p := &datePattern{text: text}
	return p, p.compile(dateLetters)
}

// parseClockPattern reads a pattern of Java's DateTimeFormatter for a time of day. Optional parts in brackets are
// always written.
func parseClockPattern(text string) (*datePattern, error) {
	p := &datePattern{text: text}
	if i := strings.IndexAny(text, "{}#"); i >= 0 {
		return p, problemf("leave it out or quote it with '", "the time pattern %q holds the reserved %q",
			shorten(text), text[i])
	}
	if err := p.compile(clockLetters); err != nil {
		return p, err
	}
	for i := range p.items {
		p.items[i].literal = strings.NewReplacer("[", "", "]", "").Replace(p.items[i].literal)
		if p.items[i].letter == 'S' {
			p.items[i].letter = fractionLetter
		}
	}
	return p, nil
}

func (p *datePattern) compile(letters string) error {
	for rest := p.text; rest != ""; {
		b := rest[0]
		n := 1
		switch {
		case b == '\'':
			literal, size, ok := quotedLiteral(rest)
			if !ok {
				return problemf("close it", "a quote of the pattern %q is not closed", shorten(p.text))
			}
			p.literal(literal)
			n = size
		case b == '-' || b == '_' || !isLetter(b):
			p.literal(rest[:1])
		case strings.IndexByte(letters, b) < 0:
			return problemf("the letters are "+letters+`; quote text with ', as in yyyy-MM-dd'T'HH:mm`,
				"the pattern %q has the unknown letter %c", shorten(p.text), b)
		default:
			for n < len(rest) && rest[n] == b {
				n++
			}
			if n > 9 && b != 'E' && b != 'M' || b == 'X' && n > 3 {
				return problemf("write fewer", "the pattern %q repeats the letter %c too often", shorten(p.text), b)
			}
			p.items = append(p.items, dateItem{letter: b, count: n})
		}
		rest = rest[n:]
	}
	return nil
}

// quotedLiteral reads 'text', in which two quotes stand for one, as they do alone.
func quotedLiteral(text string) (literal string, size int, ok bool) {
	if strings.HasPrefix(text, "''") {
		return "'", 2, true
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '\'':
			literal += text[i : i+1]
		case strings.HasPrefix(text[i:], "''"):
			literal += "'"
			i++
		default:
			return literal, i + 1, true
		}
	}
	return "", 0, false
}

func (p *datePattern) literal(text string) {
	if n := len(p.items); n > 0 && p.items[n-1].letter == 0 {
		p.items[n-1].literal += text
		return
	}
	p.items = append(p.items, dateItem{literal: text})
}

// append writes the time, which is in UTC.
func (p *datePattern) append(dst []byte, t time.Time) []byte {
	for i := range p.items {
		dst = p.items[i].append(dst, t)
	}
	return dst
}

func (i *dateItem) append(dst []byte, t time.Time) []byte {
	switch i.letter {
	case 0:
		return append(dst, i.literal...)
	case 'G':
		return append(dst, "AD"...)
	case 'y':
		if i.count == 2 {
			return appendPadded(dst, t.Year()%100, 2)
		}
		return appendPadded(dst, t.Year(), i.count)
	case 'M', 'L':
		return i.appendName(dst, t.Month().String(), int(t.Month()))
	case 'E':
		return i.appendName(dst, t.Weekday().String(), -1)
	case 'a':
		return append(dst, t.Format("PM")...)
	case 'z':
		if i.count >= 4 {
			return append(dst, "Coordinated Universal Time"...)
		}
		return append(dst, "UTC"...)
	case 'Z':
		return append(dst, "+0000"...)
	case 'X':
		return append(dst, 'Z')
	case fractionLetter:
		var digits [9]byte
		return append(dst, appendPadded(digits[:0], t.Nanosecond(), 9)[:i.count]...)
	default:
		return appendPadded(dst, i.number(t), i.count)
	}
}

// appendName writes a name, cut to three letters for fewer than four pattern letters; for fewer than three the number,
// if there is one.
func (i *dateItem) appendName(dst []byte, name string, number int) []byte {
	switch {
	case i.count < 3 && number >= 0:
		return appendPadded(dst, number, i.count)
	case i.count < 4:
		return append(dst, name[:3]...)
	default:
		return append(dst, name...)
	}
}

func (i *dateItem) number(t time.Time) int {
	switch i.letter {
	case 'd':
		return t.Day()
	case 'D':
		return t.YearDay()
	case 'u':
		return (int(t.Weekday())+6)%7 + 1
	case 'H':
		return t.Hour()
	case 'k':
		return (t.Hour()+23)%24 + 1
	case 'K':
		return t.Hour() % 12
	case 'h':
		return (t.Hour()+11)%12 + 1
	case 'm':
		return t.Minute()
	case 's':
		return t.Second()
	case 'S':
		return t.Nanosecond() / int(time.Millisecond)
	default: // n
		return t.Nanosecond()
	}
}

// appendPadded writes a number that is not negative with at least width digits.
func appendPadded(dst []byte, n, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for ; n > 0 || i == len(digits); n /= 10 {
		i--
		digits[i] = byte('0' + n%10)
	}
	dst = appendTimes(dst, '0', width-(len(digits)-i))
	return append(dst, digits[i:]...)
}
