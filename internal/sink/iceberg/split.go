package iceberg

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"firn/internal/record"
)

// splitter groups the rows of a batch by partition value. One Write uses it at a time; its buffers are reused.
type splitter struct {
	terms  []term
	values []values
	groups []group
	each   []grouping // by each term
	upTo   []grouping // by each term and those before it; unused for the first
	pairs  []int64
	all    []bool
	order  []int32 // the rows, group by group
	ends   []int32

	// known is the partitions of a generation that were met before, by key: to find one takes no lock.
	known      map[string]*partition
	generation *generation
	key        []byte

	busy []delayed // of the Write at hand
}

// group is the rows of a batch that share a partition value. A nil rows means all.
type group struct {
	first int // a row of the group, to take the partition value from
	rows  []int32
}

func newSplitter(terms []term) *splitter {
	s := &splitter{
		terms: terms, values: make([]values, len(terms)), known: map[string]*partition{},
		each: make([]grouping, len(terms)), upTo: make([]grouping, len(terms)),
	}
	for i := range s.each {
		s.each[i].seed = maphash.MakeSeed()
	}
	return s
}

// split groups the rows. The result is good until the next call.
func (s *splitter) split(columns []record.Column, rows int) []group {
	s.groups = s.groups[:0]
	switch {
	case rows == 0:
		return nil
	case len(s.terms) == 0:
		s.groups = append(s.groups, group{})
		return s.groups
	}
	whole := &s.each[0]
	for i := range s.terms {
		s.terms[i].evaluate(columns, rows, &s.values[i])
		s.number(i)
		if i > 0 {
			s.combine(whole, &s.each[i], &s.upTo[i])
			whole = &s.upTo[i]
		}
	}
	s.order, s.ends = whole.scatter(s.order, s.ends)
	from := int32(0)
	for code, end := range s.ends {
		s.groups = append(s.groups, group{first: int(whole.firsts[code]), rows: s.order[from:end:end]})
		from = end
	}
	return s.groups
}

// number numbers the rows by a term.
func (s *splitter) number(term int) {
	const smallMax = 1 << 12
	g, t, v := &s.each[term], &s.terms[term], &s.values[term]
	switch {
	case t.inBytes():
		g.texts(v.bytes, v.valid)
	case t.field.Transform == "bucket" && t.field.Param <= smallMax:
		g.small(v.ints, v.valid, t.field.Param)
	default:
		g.integers(v.ints, v.valid)
	}
}

// combine numbers the rows by two groupings together.
func (s *splitter) combine(a, b, into *grouping) {
	n := len(a.codes)
	s.pairs, s.all = slices.Grow(s.pairs[:0], n)[:n], slices.Grow(s.all[:0], n)[:n]
	for i, code := range a.codes {
		s.pairs[i], s.all[i] = int64(code)<<32|int64(b.codes[i]), true
	}
	into.integers(s.pairs, s.all)
}

// forget lets go of the batch, whose bytes are large.
func (s *splitter) forget() {
	for i := range s.values {
		clear(s.values[i].bytes)
	}
	clear(s.busy)
}

// find is the partition of a group in a generation.
func (s *splitter) find(g *generation, rows group) *partition {
	const knownMax = 1 << 16
	if g != s.generation || len(s.known) > knownMax {
		clear(s.known)
		s.generation = g
	}
	s.key = s.appendKey(s.key[:0], rows.first)
	if p := s.known[string(s.key)]; p != nil {
		return p
	}
	key := string(s.key)
	p := g.partition(key, func() []record.PartitionValue { return s.partition(rows.first) })
	s.known[key] = p
	return p
}

// appendKey appends a text that is equal for two rows if and only if their partition values are.
func (s *splitter) appendKey(key []byte, row int) []byte {
	for i := range s.values {
		v := &s.values[i]
		switch {
		case !v.valid[row]:
			key = append(key, 0)
		case s.terms[i].inBytes():
			key = binary.AppendUvarint(append(key, 1), uint64(len(v.bytes[row])))
			key = append(key, v.bytes[row]...)
		default:
			key = binary.LittleEndian.AppendUint64(append(key, 1), uint64(v.ints[row]))
		}
	}
	return key
}

// partition is the partition value of a row, as a manifest keeps it.
func (s *splitter) partition(row int) []record.PartitionValue {
	out := make([]record.PartitionValue, len(s.terms))
	for i := range s.terms {
		t, v := &s.terms[i], &s.values[i]
		out[i] = record.PartitionValue{FieldID: t.field.FieldID, Type: t.field.Result, Null: !v.valid[row]}
		if out[i].Null {
			continue
		}
		var b []byte
		var n int64
		if t.inBytes() {
			b = v.bytes[row]
		} else {
			n = v.ints[row]
		}
		out[i].Value = serialise(t.field.Result, n, b)
	}
	return out
}
