package iceberg

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// grouping numbers the rows of a block by a value, in the order in which the values come. Its buffers are reused, so
// that steady work allocates nothing, and no step costs more than a few nanoseconds a row.
type grouping struct {
	codes  []int32 // of each row
	firsts []int32 // of each code, the first row that has it

	slots  []int32 // an open-addressed table of codes, -1 where it is free
	likely int     // codes of the block before
	keys   []int64 // of each code, in the table of integers
	seed   maphash.Seed
}

// nothing is the code of what was not seen yet.
const nothing = -1

func (g *grouping) begin(rows int) {
	g.likely = len(g.firsts)
	g.codes = slices.Grow(g.codes[:0], rows)[:rows]
	g.firsts, g.keys = g.firsts[:0], g.keys[:0]
}

// clearSlots makes a table of at least n slots, a power of two.
func (g *grouping) clearSlots(n int) {
	size := 64
	for size < n {
		size *= 2
	}
	g.slots = slices.Grow(g.slots[:0], size)[:size]
	for i := range g.slots {
		g.slots[i] = nothing
	}
}

func (g *grouping) open(row int) int32 {
	g.firsts = append(g.firsts, int32(row))
	return int32(len(g.firsts) - 1)
}

// small numbers integers from 0 to n-1, as buckets are: the value is the slot.
func (g *grouping) small(ints []int64, valid []bool, n int) {
	g.begin(len(ints))
	g.clearSlots(n)
	null := int32(nothing)
	slots := g.slots
	for i, v := range ints {
		at := &null
		if valid[i] {
			at = &slots[v]
		}
		if *at == nothing {
			*at = g.open(i)
		}
		g.codes[i] = *at
	}
}

// integers numbers any integers. Equal ones often follow each other, as days do.
func (g *grouping) integers(ints []int64, valid []bool) {
	g.begin(len(ints))
	g.clearSlots(2*g.likely + 2)
	null, last := int32(nothing), int32(nothing)
	var lastValue int64
	for i, v := range ints {
		switch {
		case !valid[i]:
			if null == nothing {
				null = g.open(i)
				g.keys = append(g.keys, 0) // it is not in the table
			}
			g.codes[i] = null
			continue
		case last == nothing || v != lastValue:
			last, lastValue = g.integer(v, i), v
		}
		g.codes[i] = last
	}
}

// integer finds the code of a value, or gives it one.
func (g *grouping) integer(v int64, row int) int32 {
	if 2*len(g.firsts) >= len(g.slots) {
		g.rehash()
	}
	mask := uint64(len(g.slots) - 1)
	for at := spread(v) & mask; ; at = (at + 1) & mask {
		code := g.slots[at]
		if code == nothing {
			code = g.open(row)
			g.keys = append(g.keys, v)
			g.slots[at] = code
			return code
		}
		if g.keys[code] == v {
			return code
		}
	}
}

// rehash doubles the table of integers.
func (g *grouping) rehash() {
	old := slices.Clone(g.slots)
	g.clearSlots(2 * len(old))
	mask := uint64(len(g.slots) - 1)
	for _, code := range old {
		if code == nothing {
			continue
		}
		at := spread(g.keys[code]) & mask
		for g.slots[at] != nothing {
			at = (at + 1) & mask
		}
		g.slots[at] = code
	}
}

// spread mixes the bits of a value (the finaliser of murmur3, 64 bit).
func spread(v int64) uint64 {
	h := uint64(v)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// texts numbers runs of bytes.
func (g *grouping) texts(values [][]byte, valid []bool) {
	g.begin(len(values))
	g.clearSlots(2 * len(values))
	mask := uint64(len(g.slots) - 1)
	null := int32(nothing)
	for i, v := range values {
		if !valid[i] {
			if null == nothing {
				null = g.open(i)
			}
			g.codes[i] = null
			continue
		}
		at := maphash.Bytes(g.seed, v) & mask
		for g.slots[at] != nothing && !bytes.Equal(values[g.firsts[g.slots[at]]], v) {
			at = (at + 1) & mask
		}
		if g.slots[at] == nothing {
			g.slots[at] = g.open(i)
		}
		g.codes[i] = g.slots[at]
	}
}

// scatter appends the numbers of all rows to order, code by code and in their order within one, and gives the ends of
// the codes: a counting sort.
func (g *grouping) scatter(order, ends []int32) (_, _ []int32) {
	n := len(g.firsts)
	ends = slices.Grow(ends[:0], n)[:n]
	clear(ends)
	for _, code := range g.codes {
		ends[code]++
	}
	var sum int32
	for code, count := range ends {
		ends[code] = sum
		sum += count
	}
	order = slices.Grow(order[:0], len(g.codes))[:len(g.codes)]
	for row, code := range g.codes {
		order[ends[code]] = int32(row)
		ends[code]++
	}
	return order, ends
}
