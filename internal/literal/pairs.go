package literal

// pairsKept is how many tables an Encoder keeps the pairs of, of 256 KB each.
const pairsKept = 8

// fill makes the pairs of a code. A stream is read from its end, so the second byte is written first.
func (p *pairs) fill(t *Table) {
	clear(p[:])
	for second, b := range t.codes {
		if !t.paired[second] {
			continue
		}
		n := b & lengthMask
		row := p[second<<8 : second<<8+256]
		for first, a := range t.codes {
			if t.paired[first] {
				row[first] = (b>>codeShift|a>>codeShift<<n)<<codeShift | hasCode | (n + a&lengthMask)
			}
		}
	}
}

// Encoder makes frames. It keeps what the codes used last need. The zero value is ready; it is not safe for concurrent
// use.
type Encoder struct {
	kept [pairsKept]keptPairs
	next int
}

type keptPairs struct {
	table *Table
	pairs *pairs
}

// pairsOf returns the pairs of a code, or nil where they do not pay.
func (e *Encoder) pairsOf(t *Table) *pairs {
	if !t.pairsPay {
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
	k.pairs.fill(t)
	k.table = t
	return k.pairs
}
