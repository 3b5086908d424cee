package gen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// dateFields is what the fields of a text say; math.MinInt marks those that are not there.
type dateFields struct {
	year, month, day, yearDay    int
	hour, hour12, minute, second int
	millisecond, offsetMinutes   int
	afternoon                    bool
}

// parse reads a text as SimpleDateFormat does: numbers out of range roll over into the next field (month 16 is April
// of the next year), the weekday is read and has no effect, two digits for y or yy lie between 80 years before now
// and 20 after. Unlike it, text that is left over is an error. The result is in UTC.
func (p *datePattern) parse(text string, now time.Time) (time.Time, error) {
	f := dateFields{year: 1970, month: 1, day: 1, yearDay: math.MinInt, hour: math.MinInt}
	in := dateReader{text: text}
	for i := range p.items {
		if err := in.field(&f, p.items, i, now); err != nil {
			return time.Time{}, problemf("correct the one or the other", "the date %q does not fit the pattern %q: %s",
				shorten(text), shorten(p.text), err)
		}
	}
	if in.at < len(text) {
		return time.Time{}, problemf("correct the one or the other",
			"the date %q is longer than the pattern %q: %q is left",
			shorten(text), shorten(p.text), shorten(text[in.at:]))
	}
	t := f.time()
	if y := t.Year(); y < 1 || y > 9999 {
		return t, problemf("choose a year from 1 to 9999", "the date %q has the year %d", shorten(text), y)
	}
	return t, nil
}

func (f *dateFields) time() time.Time {
	if f.hour == math.MinInt {
		f.hour = f.hour12
		if f.afternoon {
			f.hour += 12
		}
	}
	if f.yearDay != math.MinInt {
		f.month, f.day = 1, f.yearDay
	}
	return time.Date(f.year, time.Month(f.month), f.day, f.hour, f.minute, f.second, 0, time.UTC).
		Add(time.Duration(f.millisecond)*time.Millisecond - time.Duration(f.offsetMinutes)*time.Minute)
}

type dateReader struct {
	text string
	at   int
}

func (in *dateReader) errorf(format string, args ...any) error {
	return fmt.Errorf("character %d: "+format, append([]any{in.at + 1}, args...)...)
}

func (in *dateReader) field(f *dateFields, items []dateItem, i int, now time.Time) (err error) {
	item := &items[i]
	if item.letter == 0 {
		return in.literal(item.literal)
	}
	for in.at < len(in.text) && (in.text[in.at] == ' ' || in.text[in.at] == '\t') {
		in.at++
	}
	switch {
	case item.letter == 'G':
		_, err = in.name([]string{"AD"}, 2)
	case item.letter == 'E':
		_, err = in.name(weekdays(), 3)
	case item.letter == 'a':
		var half int
		half, err = in.name([]string{"AM", "PM"}, 2)
		f.afternoon = half == 1
	case item.isMonthName():
		f.month, err = in.name(months(), 3)
		f.month++
	case item.letter == 'z' || item.letter == 'Z' || item.letter == 'X':
		f.offsetMinutes, err = in.zone()
	default:
		abutting := i+1 < len(items) && items[i+1].isNumber()
		err = in.numberField(f, item, abutting, now)
	}
	return err
}

func (i *dateItem) isMonthName() bool { return (i.letter == 'M' || i.letter == 'L') && i.count >= 3 }

func (i *dateItem) isNumber() bool {
	return i.letter != 0 && strings.IndexByte("GEazZX", i.letter) < 0 && !i.isMonthName()
}

func (in *dateReader) literal(text string) error {
	if !strings.HasPrefix(in.text[in.at:], text) {
		return in.errorf("expected %q", text)
	}
	in.at += len(text)
	return nil
}

// name finds the first name that the text goes on with, whole or cut to a length, in any case.
func (in *dateReader) name(names []string, short int) (int, error) {
	rest := in.text[in.at:]
	for _, size := range []int{math.MaxInt, short} {
		for i, name := range names {
			name = name[:min(size, len(name))]
			if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
				in.at += len(name)
				return i, nil
			}
		}
	}
	return 0, in.errorf("expected one of %s", strings.Join(names, ", "))
}

func months() (names []string) {
	for m := time.January; m <= time.December; m++ {
		names = append(names, m.String())
	}
	return names
}

func weekdays() (names []string) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		names = append(names, d.String())
	}
	return names
}

// numberField reads a number: as many digits as there are, or as the pattern has letters when another number abuts.
func (in *dateReader) numberField(f *dateFields, item *dateItem, abutting bool, now time.Time) error {
	most := 9
	if abutting {
		most = item.count
	}
	n, digits, err := in.number(most)
	if err != nil {
		return err
	}
	if abutting && digits < item.count {
		return in.errorf("expected %d digits", item.count)
	}
	switch item.letter {
	case 'y':
		f.year = n
		if item.count <= 2 && digits == 2 {
			f.year = nearYear(n, now.UTC().Year())
		}
	case 'M', 'L':
		f.month = n
	case 'd':
		f.day = n
	case 'D':
		f.yearDay = n
	case 'H':
		f.hour = n
	case 'k':
		f.hour = n % 24
	case 'K':
		f.hour12 = n
	case 'h':
		f.hour12 = n % 12
	case 'm':
		f.minute = n
	case 's':
		f.second = n
	case 'S':
		f.millisecond = n
	}
	return nil
}

// nearYear is the year that ends in two digits and lies from 80 years before this one to 19 after it.
func nearYear(digits, this int) int {
	first := this - 80
	return first + ((digits-first)%100+100)%100
}

func (in *dateReader) number(most int) (n, digits int, err error) {
	start := in.at
	for in.at < len(in.text) && isDigit(in.text[in.at]) && in.at-start < most {
		in.at++
	}
	if in.at == start {
		return 0, 0, in.errorf("expected a number")
	}
	if in.at < len(in.text) && isDigit(in.text[in.at]) && most == 9 {
		return 0, 0, in.errorf("the number has more than 9 digits")
	}
	n, err = strconv.Atoi(in.text[start:in.at])
	return n, in.at - start, err
}

// zone reads Z, +01, +0100, +01:00, any of them after GMT or UTC, or a name of RFC 822. The result is minutes east.
func (in *dateReader) zone() (int, error) {
	start := in.at
	for in.at < len(in.text) && isLetter(in.text[in.at]) && in.text[in.at] != '-' {
		in.at++
	}
	minutes, known := zoneMinutes(strings.ToUpper(in.text[start:in.at]))
	signed := in.at < len(in.text) && (in.text[in.at] == '+' || in.text[in.at] == '-')
	switch {
	case known && (minutes != 0 || !signed):
		return minutes, nil
	case known || in.at == start && signed:
		return in.zoneOffset()
	}
	in.at = start
	return 0, in.errorf("expected a time zone: Z, UTC, GMT, +01:00, EST, EDT, CST, CDT, MST, MDT, PST or PDT")
}

func zoneMinutes(name string) (minutes int, known bool) {
	switch name {
	case "Z", "UTC", "UT", "GMT":
		return 0, true
	case "EST", "CST", "MST", "PST":
		return -60 * (5 + strings.Index("ECMP", name[:1])), true
	case "EDT", "CDT", "MDT", "PDT":
		return -60 * (4 + strings.Index("ECMP", name[:1])), true
	}
	return 0, false
}

func (in *dateReader) zoneOffset() (int, error) {
	sign := 1
	if in.text[in.at] == '-' {
		sign = -1
	}
	in.at++
	hours, _, err := in.number(2)
	if err != nil {
		return 0, err
	}
	colon := in.at < len(in.text) && in.text[in.at] == ':'
	if colon {
		in.at++
	}
	minutes := 0
	if colon || in.at < len(in.text) && isDigit(in.text[in.at]) {
		if minutes, _, err = in.number(2); err != nil {
			return 0, err
		}
	}
	if hours > 23 || minutes > 59 {
		return 0, in.errorf("a time zone lies within 23:59 hours")
	}
	return sign * (60*hours + minutes), nil
}
