package bigquery

import (
	"fmt"
	"strings"
	"time"
)

// The ends of DATE, DATETIME and TIMESTAMP: 0001-01-01 to 9999-12-31, as days and microseconds since 1970-01-01.
const (
	dayMin       = -719162
	dayMax       = 2932896
	microsPerDay = 24 * 60 * 60 * 1_000_000
	microMin     = dayMin * microsPerDay
	microMax     = (dayMax+1)*microsPerDay - 1
)

// day is a DATE in days since 1970-01-01.
func (f *field) day(s scalar) (day int64, reason string) {
	if shapeOf(f.typ) == shapeText {
		t, err := time.Parse("2006-1-2", string(s.bytes))
		if err != nil {
			return 0, fmt.Sprintf("invalid date %q", s.bytes)
		}
		day = t.Unix() / (24 * 60 * 60)
	} else {
		day = f.integer(s.bits)
	}
	if day < dayMin || day > dayMax {
		return 0, fmt.Sprintf("date out of range: %d days since 1970-01-01", day)
	}
	return day, ""
}

// time is a TIME in microseconds since midnight. An integer packs hour, minute, second and microsecond into 5, 6, 6 and
// 20 bits (CivilTimeEncoder of java-bigquerystorage, encodePacked64TimeMicros).
func (f *field) time(s scalar) (micros int64, reason string) {
	if shapeOf(f.typ) == shapeText {
		t, ok := parseClock(string(s.bytes))
		if !ok {
			return 0, fmt.Sprintf("invalid time %q", s.bytes)
		}
		return t, ""
	}
	packed := f.integer(s.bits)
	micros, ok := unpackClock(packed)
	if !ok || packed>>37 != 0 {
		return 0, fmt.Sprintf("invalid packed time %d", packed)
	}
	return micros, ""
}

func unpackClock(packed int64) (micros int64, ok bool) {
	hour, minute, second, micro := packed>>32&0x1f, packed>>26&0x3f, packed>>20&0x3f, packed&0xfffff
	if hour > 23 || minute > 59 || second > 59 || micro > 999_999 {
		return 0, false
	}
	return ((hour*60+minute)*60+second)*1_000_000 + micro, true
}

// datetime is a DATETIME in microseconds since 1970-01-01 00:00. An integer has year, month and day in 14, 4 and 5 bits
// above a packed time (CivilTimeEncoder, encodePacked64DatetimeMicros).
func (f *field) datetime(s scalar) (micros int64, reason string) {
	if shapeOf(f.typ) == shapeText {
		t, ok := parseDatetime(string(s.bytes))
		if !ok {
			return 0, fmt.Sprintf("invalid datetime %q", s.bytes)
		}
		return inRange(t, "datetime")
	}
	packed := f.integer(s.bits)
	clock, ok := unpackClock(packed)
	year, month, day := packed>>46, packed>>42&0xf, packed>>37&0x1f
	date := time.Date(int(year&0x3fff), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if !ok || year < 1 || year > 9999 || int64(date.Month()) != month || int64(date.Day()) != day {
		return 0, fmt.Sprintf("invalid packed datetime %d", packed)
	}
	return date.UnixMicro() + clock, ""
}

// timestamp is a TIMESTAMP in microseconds since 1970-01-01 00:00 UTC.
func (f *field) timestamp(s scalar) (micros int64, reason string) {
	if shapeOf(f.typ) != shapeText {
		return inRange(f.integer(s.bits), "timestamp")
	}
	t, ok := parseTimestamp(string(s.bytes))
	if !ok {
		return 0, fmt.Sprintf("invalid timestamp %q", s.bytes)
	}
	return inRange(t, "timestamp")
}

func inRange(micros int64, what string) (int64, string) {
	if micros < microMin || micros > microMax {
		return 0, fmt.Sprintf("%s out of range: %d microseconds since 1970-01-01", what, micros)
	}
	return micros, ""
}

// parseClock reads h:m:s with up to six digits after the point.
func parseClock(text string) (micros int64, ok bool) {
	_, fraction, _ := strings.Cut(text, ".")
	t, err := time.Parse("15:4:5", text)
	if err != nil || len(fraction) > 6 {
		return 0, false
	}
	seconds := int64((t.Hour()*60+t.Minute())*60 + t.Second())
	return seconds*1_000_000 + int64(t.Nanosecond()/1000), true
}

// parseDatetime reads a date, and a time after a T or a space.
func parseDatetime(text string) (micros int64, ok bool) {
	date, clock, timed := strings.Cut(strings.Replace(text, "t", "T", 1), "T")
	if !timed {
		date, clock, timed = strings.Cut(text, " ")
	}
	t, err := time.Parse("2006-1-2", date)
	if err != nil {
		return 0, false
	}
	if timed {
		if micros, ok = parseClock(clock); !ok {
			return 0, false
		}
	}
	return t.UnixMicro() + micros, true
}

// parseTimestamp reads a datetime with an offset, Z or UTC behind it; without one it is UTC.
func parseTimestamp(text string) (micros int64, ok bool) {
	text = strings.TrimSpace(strings.TrimSuffix(text, "UTC"))
	if n := len(text); n > 0 && (text[n-1] == 'Z' || text[n-1] == 'z') {
		text = text[:n-1]
	}
	var offset int64
	if i := strings.LastIndexAny(text, "+-"); i > len("2006-1-2") {
		at, err := time.Parse("-07:00", text[i:])
		if err != nil {
			if at, err = time.Parse("-07", text[i:]); err != nil {
				return 0, false
			}
		}
		_, seconds := at.Zone()
		offset = int64(seconds) * 1_000_000
		text = strings.TrimSpace(text[:i])
	}
	micros, ok = parseDatetime(text)
	return micros - offset, ok
}

func dateText(day int64) string {
	return time.Unix(day*24*60*60, 0).UTC().Format("2006-01-02")
}

func timeText(micros int64) string { return time.UnixMicro(micros).UTC().Format("15:04:05.000000") }

func datetimeText(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000")
}
