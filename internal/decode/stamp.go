package decode

import "firn/internal/record"

// stamp reads the string at p as a timestamp. The usual layout, "2006-01-02T15:04:05.999Z" with up to seven digits
// after the point, is read by words; all else in it is left to timestamp, the faults too.
func (d *JSON) stamp(f *field, p, row int) int {
	if len(d.b)-p >= stampBytesMax {
		if v, end, ok := d.usualStamp(d.b, p); ok && d.storeStamp(f, v, row) {
			return end
		}
	} else {
		var padded [stampBytesMax]byte // no byte of zero is part of the layout
		copy(padded[:], d.b[p:])
		if v, end, ok := d.usualStamp(padded[:], 0); ok && d.storeStamp(f, v, row) {
			return p + end
		}
	}
	return d.quoted(f, p, row)
}

// stampBytesMax is how many bytes usualStamp may look at.
const stampBytesMax = 32

// date is one that was read before: most timestamps that follow are of the same day.
type date struct {
	yearMonth uint64 // "2006-01-"
	day       uint16 // "02"
	seconds   int64  // since 1970
}

// date1970 is a date to start from, since one of zeros would be what some texts of zero bytes hold.
var date1970 = date{yearMonth: word([]byte("1970-01-"), 0), day: '0' | '1'<<8}

// usualStamp reads the timestamp of the usual layout that starts with a quote at p.
func (d *JSON) usualStamp(b []byte, p int) (m moment, end int, ok bool) {
	yearMonth, day := word(b, p+1), uint16(b[p+9])|uint16(b[p+10])<<8
	if yearMonth != d.date.yearMonth || day != d.date.day {
		days, ok := parseDate(b[p+1:])
		if !ok {
			return m, 0, false
		}
		d.date = date{yearMonth, day, int64(days) * secondsPerDay}
	}
	m.clock.seconds, ok = clockSeconds(word(b, p+12))
	end = p + 20
	if !ok || b[p+11] != 'T' {
		return m, 0, false
	}
	m.seconds = d.date.seconds + int64(m.clock.seconds)
	if b[end] == '.' {
		x := word(b, end+1) ^ zeroes
		n := digitRun(x)
		if uint(n-1) > 6 {
			return m, 0, false
		}
		m.clock.nanos = int(eightDigits(x&(1<<(8*n)-1))) * 10
		end += 1 + n
	}
	if b[end] == 'Z' {
		m.zoned = true
		end++
	}
	return m, end + 1, b[end] == '"'
}

// storeStamp stores the timestamp when it is one of the column.
func (d *JSON) storeStamp(f *field, m moment, row int) bool {
	if m.zoned != (f.kind == record.KindTimestampTZ || f.kind == record.KindTimestampTZNs) {
		return false
	}
	v, why := m.micros()
	if f.kind == record.KindTimestampNs || f.kind == record.KindTimestampTZNs {
		v, why = m.nanos()
	}
	if why != "" {
		return false
	}
	f.col.Ints64[row] = v
	f.col.Valid[row] = true
	return true
}

// clockSeconds is the seconds since midnight of x, the text 15:04:05. Each byte of it is compared with its largest
// value by adding what carries a larger one into the high bit.
func clockSeconds(x uint64) (seconds int, ok bool) {
	const text, carry = 0x30303a30303a3030, 0x767a7f767a7f767d
	x ^= text
	if ((x+carry)|x)&highs != 0 {
		return 0, false
	}
	x = x*10 + x>>8
	h, m, s := int(x&0xff), int(x>>24&0xff), int(x>>48&0xff)
	return h*3600 + m*60 + s, h <= 23
}
