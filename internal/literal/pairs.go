package literal

const (
	// pairBytesMax is how many different bytes pairs are made for: making them costs the square.
	pairBytesMax = 128
	// pairsKept is how many tables an Encoder keeps the pairs of, of 256 KB each.
	pairsKept = 8
)

// fill makes the pairs of a code. A stream is read from its end, so the second byte is written first.
func (p *pairs) fill(c *codes) {
	clear(p[:])
	for second, b := range c {
		if b == 0 {
			continue
		}
		n := b & lengthMask
		row := p[second<<8 : second<<8+256]
		for first, a := range c {
			if a != 0 {
				row[first] = (b>>codeShift|a>>codeShift<<n)<<codeShift | hasCode | (n + a&lengthMask)
			}
		}
	}
}

// Encoder makes frames. It keeps what the codes used last need. The zero value is ready; it is not safe for concurrent use.
type Encoder struct {
	kept [pairsKept]keptPairs
	next int
}

type keptPairs struct {
	table *Table
	pairs *pairs
}

// pairsOf returns the pairs of a code, or nil where it has too many bytes for them.
func (e *Encoder) pairsOf(t *Table) *pairs {
	if t.distinct > pairBytesMax {
		return nil
	}
	for i := range e.kept {
		if e.kept[i].table == t {
			return e.kept[i].pairs
		}
	}
	k := &e.kept[e.next]
	e.next = (e.next + 1) % pairsKept
	if k.pairs == nil {
		k.pairs = new(pairs)
	}
	k.pairs.fill(&t.codes)
	k.table = t
	return k.pairs
}
