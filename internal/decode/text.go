package decode

import (
	"unicode/utf8"
)

// arenaBytes is the size of an arena chunk: large enough that its allocation is lost in the cost of unescaping what
// fills it, small enough that one long-lived string in it wastes little.
const arenaBytes = 64 << 10

// text reads the string at p, a quote. The result aliases the record value, or, when escaped, d.scratch, which the
// next string overwrites. It is valid UTF-8.
func (d *JSON) text(path string, p int) (t []byte, end int, escaped bool) {
	b := d.b
	start := p + 1
	i, high := d.scan(start)
	if i < len(b) && b[i] == '"' {
		t = b[start:i:i]
		if high == 0 || utf8.Valid(t) {
			return t, i + 1, false
		}
	}
	t, end = d.unescape(path, start, i)
	return t, end, true
}

// unescape reads the string whose first byte is at start and whose first special byte at i, into d.scratch.
func (d *JSON) unescape(path string, start, i int) ([]byte, int) {
	b := d.b
	d.scratch = d.scratch[:0]
	for {
		if !utf8.Valid(b[start:i]) {
			return nil, d.fail(path, invalidAt(b, start), "invalid UTF-8 in a string")
		}
		d.scratch = append(d.scratch, b[start:i]...)
		switch {
		case i >= len(b):
			return nil, d.fail(path, i, "the text ends inside a string")
		case b[i] == '"':
			return d.scratch, i + 1
		case b[i] != '\\':
			return nil, d.fail(path, i, "raw control character in a string")
		}
		if start = d.escape(path, i); start < 0 {
			return nil, -1
		}
		i, _ = d.scan(start)
	}
}

// escape appends the character that is escaped at p to d.scratch.
func (d *JSON) escape(path string, p int) int {
	if p+1 >= len(d.b) {
		return d.fail(path, p, "the text ends inside a string")
	}
	c := d.b[p+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return d.escapeUnicode(path, p)
	default:
		return d.fail(path, p, "unknown escape in a string")
	}
	d.scratch = append(d.scratch, c)
	return p + 2
}

func (d *JSON) escapeUnicode(path string, p int) int {
	r, ok := hex4(d.b, p)
	if !ok {
		return d.fail(path, p, `\u without four hexadecimal digits`)
	}
	end := p + 6
	if r >= 0xdc00 && r < 0xe000 {
		return d.fail(path, p, "lone low surrogate in a string")
	}
	if r >= 0xd800 && r < 0xdc00 {
		low, ok := hex4(d.b, end)
		if !ok || low < 0xdc00 || low >= 0xe000 {
			return d.fail(path, p, "lone high surrogate in a string")
		}
		r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
		end += 6
	}
	d.scratch = utf8.AppendRune(d.scratch, r)
	return end
}

// hex4 is the value of the \uXXXX at p.
func hex4(b []byte, p int) (r rune, ok bool) {
	if p+6 > len(b) || b[p] != '\\' || b[p+1] != 'u' {
		return 0, false
	}
	var all byte
	for _, c := range b[p+2 : p+6] {
		v := hexDigits[c]
		all |= v
		r = r<<4 | rune(v)
	}
	return r, all < notHex
}

// invalidAt is the position of the first byte from p on that is not UTF-8.
func invalidAt(b []byte, p int) int {
	for p < len(b) {
		r, n := utf8.DecodeRune(b[p:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		p += n
	}
	return p
}

// keep copies t to where it outlives the next string and the next batch.
func (d *JSON) keep(t []byte) []byte {
	k := d.reserve(len(t))
	copy(k, t)
	return k
}

// reserve is n bytes of the arena, zeroed.
func (d *JSON) reserve(n int) []byte {
	if n > arenaBytes/8 {
		return make([]byte, n) // a chunk of its own, so that little of the current one is wasted
	}
	if n > cap(d.arena)-len(d.arena) {
		d.arena = make([]byte, 0, arenaBytes)
	}
	m := len(d.arena)
	d.arena = d.arena[:m+n]
	return d.arena[m : m+n : m+n]
}
