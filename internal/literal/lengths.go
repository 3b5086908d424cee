package literal

import (
	"cmp"
	"slices"
)

// lengthMax is the longest code that the format allows (RFC 8878 section 4.2.1).
const lengthMax = 11

// lengths is the length of the code of each byte; 0 is none.
type lengths [256]uint8

// node is a byte, or two nodes below it.
type node struct {
	count  uint64
	symbol byte
	left   int16 // of nodes; -1: a byte
	right  int16
	depth  uint8
}

// huffmanLengths gives the bytes that occur, two at least, codes of limit bits at most, shortest in all but for the limit.
func huffmanLengths(h *histogram, limit uint8) *lengths {
	nodes := make([]node, 0, 2*len(h))
	for s, n := range h {
		if n > 0 {
			nodes = append(nodes, node{count: uint64(n), symbol: byte(s), left: -1})
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(a.count, b.count) })
	nodes = joinNodes(nodes)
	var counts [256]int // of codes by length; a chain of all bytes is the deepest
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		if n.left < 0 {
			counts[min(n.depth, limit)]++
			continue
		}
		nodes[n.left].depth, nodes[n.right].depth = n.depth+1, n.depth+1
	}
	shorten(counts[:limit+1], limit)
	var l lengths
	next := 0 // the rarest byte has the longest code
	for length := limit; length > 0; length-- {
		for range counts[length] {
			l[nodes[next].symbol] = length
			next++
		}
	}
	return &l
}

// joinNodes builds the tree over the leaves, which are sorted by count: the two rarest nodes get one above them, which is
// appended, until one is left. What is appended is sorted too.
func joinNodes(nodes []node) []node {
	leaves := len(nodes)
	leaf, joint := 0, leaves
	rarest := func() int16 {
		if leaf < leaves && (joint >= len(nodes) || nodes[leaf].count <= nodes[joint].count) {
			leaf++
			return int16(leaf - 1)
		}
		joint++
		return int16(joint - 1)
	}
	for range leaves - 1 {
		a := rarest()
		b := rarest()
		nodes = append(nodes, node{count: nodes[a].count + nodes[b].count, left: a, right: b})
	}
	return nodes
}

// shorten makes the numbers of codes by length a complete code again, after those beyond the limit were cut to it: the
// sum of 2^-length over all codes is one. Codes just shorter than the limit are made longer until it fits; what room
// that leaves over goes to the longest.
func shorten(counts []int, limit uint8) {
	excess := -1 << limit
	for length, n := range counts {
		if length > 0 {
			excess += n << (int(limit) - length)
		}
	}
	for excess > 0 {
		length := int(limit) - 1
		for counts[length] == 0 {
			length--
		}
		counts[length]--
		counts[length+1]++
		excess -= 1 << (int(limit) - length - 1)
	}
	for excess < 0 {
		length := int(limit)
		for counts[length] == 0 || -excess < 1<<(int(limit)-length) {
			length--
		}
		counts[length]--
		counts[length-1]++
		excess += 1 << (int(limit) - length)
	}
}
