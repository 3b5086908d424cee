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

// huffmanLengths gives the bytes that occur, two at least, codes of limit bits at most, at least eight. Where the
// rarest ones would have longer codes, all are counted half until they do not: rare bytes come out a little too short.
func huffmanLengths(h *histogram, limit uint8) *lengths {
	counted := *h
	for {
		l, longest := counted.tree()
		if longest <= limit {
			return l
		}
		for s, n := range counted {
			counted[s] = (n + 1) / 2
		}
	}
}

// tree is the shortest codes, and the length of the longest of them.
func (h *histogram) tree() (l *lengths, longest uint8) {
	nodes := make([]node, 0, 2*len(h))
	for s, n := range h {
		if n > 0 {
			nodes = append(nodes, node{count: uint64(n), symbol: byte(s), left: -1})
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(a.count, b.count) })
	nodes = joinNodes(nodes)
	l = &lengths{}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		if n.left < 0 {
			l[n.symbol] = n.depth
			longest = max(longest, n.depth)
			continue
		}
		nodes[n.left].depth, nodes[n.right].depth = n.depth+1, n.depth+1
	}
	return l, longest
}

// joinNodes builds the tree over the leaves, which are sorted by count: the two rarest nodes get one above them, which
// is appended, until one is left. What is appended is sorted too.
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
