package decode

import "fmt"

// skip steps over the value at p, which fills no column, inside of an object of that depth, and checks it like any
// other. It needs no stack: what is open is a list of closing brackets, no longer than DepthMax.
func (d *JSON) skip(path string, depth, p int) int {
	b := d.b
	if p < len(b) && b[p] != '{' && b[p] != '[' {
		return d.skipScalar(path, p)
	}
	d.nesting = d.nesting[:0]
	for {
		if p >= len(b) {
			return d.fail(path, p, "expected a value, found the end of the text")
		}
		opened := b[p] == '{' || b[p] == '['
		if opened {
			if depth+len(d.nesting) >= d.options.DepthMax {
				return d.fail(path, p, fmt.Sprintf("nested deeper than %d", d.options.DepthMax))
			}
			d.nesting = append(d.nesting, b[p]+2) // ] and } follow two after [ and {
			p = space(b, p+1)
		} else {
			p = d.skipScalar(path, p)
		}
		if p < 0 {
			return -1
		}
		if p = d.skipBetween(path, p, opened); p < 0 || len(d.nesting) == 0 {
			return p
		}
	}
}

// skipBetween steps from after a value, or after an opening bracket, to the next value. When no bracket is open any
// more it stays after the value.
func (d *JSON) skipBetween(path string, p int, opened bool) int {
	b := d.b
	for len(d.nesting) > 0 {
		closing := d.nesting[len(d.nesting)-1]
		if p = space(b, p); p >= len(b) {
			return d.fail(path, p, "the text ends inside an object or array")
		}
		switch {
		case b[p] == closing:
			d.nesting = d.nesting[:len(d.nesting)-1]
			opened = false
			p++
			continue
		case opened:
		case b[p] == ',':
			p = space(b, p+1)
		default:
			return d.fail(path, p, fmt.Sprintf("expected , or %c after a value, found %s", closing, describe(b, p)))
		}
		if closing == '}' {
			return d.skipKey(path, p)
		}
		return p
	}
	return p
}

func (d *JSON) skipKey(path string, p int) int {
	if p >= len(d.b) || d.b[p] != '"' {
		return d.fail(path, p, "expected a key in quotes, found "+describe(d.b, p))
	}
	_, end, _ := d.text(path, p)
	if end < 0 {
		return -1
	}
	return d.colon(path, end)
}

// skipScalar steps over a string, number or literal.
func (d *JSON) skipScalar(path string, p int) int {
	switch c := d.b[p]; {
	case c == '"':
		_, end, _ := d.text(path, p)
		return end
	case c == '-' || c-'0' <= 9:
		_, end := parseNumber(d.b, p)
		if end < 0 {
			return d.fail(path, p, "malformed number (leading zero, or digits missing)")
		}
		return end
	case c == 't':
		return d.literal(path, p, "true")
	case c == 'f':
		return d.literal(path, p, "false")
	default:
		return d.literal(path, p, "null")
	}
}
