package decode

import (
	"math"

	"firn/internal/record"
)

const (
	microsPerDay  = 24 * 60 * 60 * 1_000_000
	secondsPerDay = 24 * 60 * 60
)

// dateOrTime reads a date or time of day from t. Like all in this file it is plain arithmetic on the text: no zone of
// the host can change a result.
func (d *JSON) dateOrTime(f *field, t []byte, row int) int {
	if f.kind == record.KindDate {
		days, ok := parseDate(t)
		if !ok || len(t) != dateBytes {
			return d.failText(f, 0, t, "write it as 2006-01-02")
		}
		f.col.Ints32[row] = int32(days)
	} else {
		c, end := parseClock(t)
		if end != len(t) {
			return d.failText(f, 0, t, "write it as 15:04:05.999999")
		}
		if c.nanos%1000 != 0 || c.finer {
			return d.failText(f, 0, t, "it is finer than a microsecond")
		}
		f.col.Ints64[row] = int64(c.seconds)*1e6 + int64(c.nanos)/1000
	}
	f.col.Valid[row] = true
	return len(t)
}

// timestamp reads a timestamp from t.
func (d *JSON) timestamp(f *field, t []byte, row int) int {
	m, ok := parseMoment(t)
	if !ok {
		return d.failText(f, 0, t, "write it as 2006-01-02T15:04:05.999999"+f.zoneText())
	}
	if m.zoned != (f.kind == record.KindTimestampTZ || f.kind == record.KindTimestampTZNs) {
		if m.zoned {
			return d.failText(f, 0, t, "it has a zone, and the column has none")
		}
		return d.failText(f, 0, t, "it has no zone, such as Z or +01:00")
	}
	v, why := m.micros()
	if f.kind == record.KindTimestampNs || f.kind == record.KindTimestampTZNs {
		v, why = m.nanos()
	}
	if why != "" {
		return d.failText(f, 0, t, why)
	}
	f.col.Ints64[row] = v
	f.col.Valid[row] = true
	return len(t)
}

func (f *field) zoneText() string {
	if f.kind == record.KindTimestampTZ || f.kind == record.KindTimestampTZNs {
		return "Z"
	}
	return ""
}

// moment is a date and time of day, from 1970 on in UTC when zoned, else on the wall.
type moment struct {
	seconds int64
	clock   clock
	zoned   bool
}

func (m moment) micros() (v int64, why string) {
	if m.clock.nanos%1000 != 0 || m.clock.finer {
		return 0, "it is finer than a microsecond"
	}
	return m.seconds*1e6 + int64(m.clock.nanos)/1000, ""
}

func (m moment) nanos() (v int64, why string) {
	if m.clock.finer {
		return 0, "it is finer than a nanosecond"
	}
	// The first second that an int64 of nanoseconds reaches is cut off at its start, the last at its end. The product
	// may wrap in the first one, and the sum wraps back.
	const first, last = math.MinInt64/1_000_000_000 - 1, math.MaxInt64 / 1_000_000_000
	n := int64(m.clock.nanos)
	if m.seconds < first || m.seconds == first && n < math.MinInt64%1_000_000_000+1_000_000_000 ||
		m.seconds > last || m.seconds == last && n > math.MaxInt64%1_000_000_000 {
		return 0, "nanoseconds reach from 1677-09-21 to 2262-04-11"
	}
	return m.seconds*1_000_000_000 + n, ""
}

// parseMoment reads all of t as 2006-01-02T15:04:05.999999999 with Z, an offset, or no zone.
func parseMoment(t []byte) (m moment, ok bool) {
	days, ok := parseDate(t)
	if !ok || len(t) <= dateBytes || t[dateBytes]|0x20 != 't' && t[dateBytes] != ' ' {
		return m, false
	}
	t = t[dateBytes+1:]
	var end int
	if m.clock, end = parseClock(t); end < 0 {
		return m, false
	}
	m.seconds = int64(days)*secondsPerDay + int64(m.clock.seconds)
	t = t[end:]
	switch {
	case len(t) == 0:
		return m, true
	case len(t) == 1 && t[0]|0x20 == 'z':
		m.zoned = true
		return m, true
	}
	offset, ok := parseOffset(t)
	m.zoned = true
	m.seconds -= int64(offset)
	return m, ok
}

// parseOffset reads all of t as +15:04, in seconds.
func parseOffset(t []byte) (seconds int, ok bool) {
	if len(t) != 6 || t[0] != '+' && t[0] != '-' || t[3] != ':' {
		return 0, false
	}
	h, m := twoDigits(t, 1), twoDigits(t, 4)
	seconds = h*3600 + m*60
	if t[0] == '-' {
		seconds = -seconds
	}
	return seconds, h <= 23 && m <= 59
}

// clock is a time of day.
type clock struct {
	seconds int
	nanos   int
	finer   bool // there are digits below a nanosecond
}

// parseClock reads 15:04:05.999999 at the start of t. The end is -1 when there is none.
func parseClock(t []byte) (c clock, end int) {
	if len(t) < 8 || t[2] != ':' || t[5] != ':' {
		return c, -1
	}
	h, m, s := twoDigits(t, 0), twoDigits(t, 3), twoDigits(t, 6)
	if h > 23 || m > 59 || s > 59 {
		return c, -1
	}
	c.seconds = h*3600 + m*60 + s
	if len(t) == 8 || t[8] != '.' {
		return c, 8
	}
	end = 9
	for unit := 100_000_000; end < len(t) && t[end]-'0' <= 9; unit /= 10 {
		digit := int(t[end] - '0')
		c.nanos += unit * digit
		c.finer = c.finer || unit == 0 && digit > 0
		end++
	}
	if end == 9 {
		return c, -1
	}
	return c, end
}

// dateBytes is the length of 2006-01-02.
const dateBytes = 10

// parseDate reads a date of the proleptic Gregorian calendar at the start of t, as days since 1970-01-01.
func parseDate(t []byte) (days int, ok bool) {
	if len(t) < dateBytes || t[4] != '-' || t[7] != '-' {
		return 0, false
	}
	century, year, month, day := twoDigits(t, 0), twoDigits(t, 2), twoDigits(t, 5), twoDigits(t, 8)
	if century > 99 || year > 99 || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	year += century * 100
	if day > daysIn(year, month) {
		return 0, false
	}
	return daysSince1970(year, month, day), true
}

// twoDigits is the value of the two digits at p; above 99 when they are none.
func twoDigits(t []byte, p int) int {
	a, b := t[p]-'0', t[p+1]-'0'
	if a > 9 || b > 9 {
		return math.MaxInt32
	}
	return int(a)*10 + int(b)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// daysSince1970 counts years from March, so that the leap day is the last of a year (H. Hinnant, chrono-compatible
// low-level date algorithms, days_from_civil).
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	// Years are moved up by one era of 400, so that all terms are positive from year 0 on.
	const eraDays, epochDays = 146097, 719468
	y := year + 400
	return y*365 + y/4 - y/100 + y/400 + (153*(month-3)+2)/5 + day - 1 - eraDays - epochDays
}
