package gen

import (
	"regexp"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

const (
	// regexifyMore is how many times more than its minimum an open repeat (* + {n,}) may occur.
	regexifyMore = 10
	// regexifyBytesMax bounds the text that one pattern may make.
	regexifyBytesMax = 1 << 20
)

// regexGenerator makes texts that a regular expression matches. It is immutable.
type regexGenerator struct {
	root     regexNode
	bytesMax int
}

// regexNode is one of: a set of characters, or parts in sequence or to choose from, occurring min to max times.
type regexNode struct {
	ranges   []rune // pairs of first and last, with count characters in all
	count    uint64
	parts    []regexNode
	choose   bool // one of the parts instead of all
	min, max int
}

// parseRegexify reads a pattern in the syntax of Go's regexp package (RE2). It tries the result, so that a pattern
// whose anchors contradict its text is refused.
func parseRegexify(pattern string) (*regexGenerator, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, problemf("write it in RE2 syntax, without look-around and back references",
			"the pattern %q is no regular expression: %s", shorten(pattern), err)
	}
	g := &regexGenerator{}
	if g.root, err = regexTree(tree); err != nil {
		return nil, err
	}
	if g.bytesMax = g.root.bytesMax(); g.bytesMax > regexifyBytesMax {
		return nil, problemf("repeat less", "the pattern %q makes texts of more than 1 MiB", shorten(pattern))
	}
	check, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, problemf("simplify it", "the pattern %q cannot be checked: %s", shorten(pattern), err)
	}
	r := newRandom(1, 0)
	for range 3 {
		if !check.Match(g.append(nil, &r)) {
			return nil, problemf("leave out ^ and $ within the pattern",
				"no text that the pattern %q matches was found", shorten(pattern))
		}
	}
	return g, nil
}

func regexTree(t *syntax.Regexp) (regexNode, error) {
	n := regexNode{min: 1, max: 1}
	switch t.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return n, nil
	case syntax.OpLiteral:
		for _, r := range t.Rune {
			n.parts = append(n.parts, regexNode{ranges: literalRanges(r, t.Flags), min: 1, max: 1}.counted())
		}
		return n, nil
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n.ranges = friendly([]rune{0, unicode.MaxRune})
		return n.counted(), nil
	case syntax.OpCharClass:
		n.ranges = friendly(t.Rune)
		return n.counted(), nil
	case syntax.OpStar:
		n.min, n.max = 0, regexifyMore
	case syntax.OpPlus:
		n.max = 1 + regexifyMore
	case syntax.OpQuest:
		n.min = 0
	case syntax.OpRepeat:
		n.min, n.max = t.Min, t.Max
		if t.Max < 0 {
			n.max = t.Min + regexifyMore
		}
	case syntax.OpAlternate:
		n.choose = true
	case syntax.OpConcat, syntax.OpCapture:
	default:
		return n, problemf(`leave it out`, "the regular expression %q cannot be made into text", shorten(t.String()))
	}
	for _, sub := range t.Sub {
		part, err := regexTree(sub)
		if err != nil {
			return n, err
		}
		n.parts = append(n.parts, part)
	}
	return n, nil
}

// literalRanges is the character, or all its cases under (?i).
func literalRanges(r rune, flags syntax.Flags) []rune {
	ranges := []rune{r, r}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			ranges = append(ranges, f, f)
		}
	}
	return ranges
}

// friendly narrows a set of characters: to printable ASCII that JSON need not escape, when it has any; else to
// printable ASCII; else to all but surrogates.
func friendly(set []rune) []rune {
	for _, wish := range [][]rune{{' ', '!', '#', '[', ']', '~'}, {' ', '~'}} {
		if narrow := intersect(set, wish); len(narrow) > 0 {
			return narrow
		}
	}
	return intersect(set, []rune{0, 0xd7ff, 0xe000, unicode.MaxRune})
}

func intersect(a, b []rune) []rune {
	var both []rune
	for i := 0; i+1 < len(a); i += 2 {
		for j := 0; j+1 < len(b); j += 2 {
			if low, high := max(a[i], b[j]), min(a[i+1], b[j+1]); low <= high {
				both = append(both, low, high)
			}
		}
	}
	return both
}

func (n regexNode) counted() regexNode {
	for i := 0; i+1 < len(n.ranges); i += 2 {
		n.count += uint64(n.ranges[i+1]-n.ranges[i]) + 1
	}
	return n
}

// bytesMax is the size of the longest text; it saturates above the limit.
func (n *regexNode) bytesMax() int {
	total := 0
	if n.count > 0 {
		total = utf8.UTFMax
	}
	for i := range n.parts {
		part := n.parts[i].bytesMax()
		if n.choose {
			total = max(total, part)
		} else {
			total = min(total+part, 2*regexifyBytesMax)
		}
	}
	return min(total*n.max, 2*regexifyBytesMax)
}

func (g *regexGenerator) append(dst []byte, r *random) []byte { return g.root.append(dst, r) }

func (n *regexNode) append(dst []byte, r *random) []byte {
	for range r.between(int64(n.min), int64(n.max)) {
		switch {
		case n.count > 0:
			dst = utf8.AppendRune(dst, n.character(r.below(n.count)))
		case n.choose:
			dst = n.parts[r.below(uint64(len(n.parts)))].append(dst, r)
		default:
			for i := range n.parts {
				dst = n.parts[i].append(dst, r)
			}
		}
	}
	return dst
}

// character is number i of the set.
func (n *regexNode) character(i uint64) rune {
	for j := 0; ; j += 2 {
		size := uint64(n.ranges[j+1]-n.ranges[j]) + 1
		if i < size {
			return n.ranges[j] + rune(i)
		}
		i -= size
	}
}
