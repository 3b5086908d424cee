package gen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func textFunctions() []function {
	return []function{
		{"alpha", "|length|min,max", 0, 2, func(c *compiler, k *call) node {
			return compileLetters(c, k, alphaLetters)
		}},
		{"alphaNumeric", "|length|min,max", 0, 2, func(c *compiler, k *call) node {
			return compileLetters(c, k, alphaNumericLetters)
		}},
		{"hex", "|bytes", 0, 1, compileHex},
		{"objectId", "", 0, 0, compileObjectID},
		{"uuid guid", "|keepDashes", 0, 1, compileUUID},
		{"random", "a,b,...", 1, -1, compileRandom},
		{"concat", "a,b,...", 1, -1, compileConcat},
		{"substring", "text,begin|text,begin,end", 2, 3, compileSubstring},
		{"toLowerCase", "text", 1, 1, func(c *compiler, k *call) node { return compileCase(c, k, unicode.ToLower) }},
		{"toUpperCase", "text", 1, 1, func(c *compiler, k *call) node { return compileCase(c, k, unicode.ToUpper) }},
		{"regexify", "regex|locale,regex", 1, 2, compileRegexify},
		{"lorem", `count,"words"|count,"paragraphs"`, 2, 2, compileLorem},
	}
}

// compileLetters: a length, or one from min to max-1; without arguments 10 to 19.
func compileLetters(c *compiler, k *call, letters string) node {
	low := &argument[int64]{constant: 10}
	high := &argument[int64]{constant: 20}
	if len(k.operands) > 0 {
		low = newArgument(c, k.operands[0], parseLength)
		high = low
	}
	if len(k.operands) > 1 {
		high = newArgument(c, k.operands[1], parseLength)
	}
	table := c.alphabet(letters)
	return func(dst []byte, s *State) []byte {
		n := low.value(s)
		if high != low {
			most := high.value(s)
			if most <= n {
				s.fail(k.offset, problemf("raise the second number",
					"%s(%d,%d) has no length to choose: the second is exclusive", k.name, n, most))
				return dst
			}
			n = s.random.between(n, most-1)
		}
		if !s.spend(k.offset, int(n)) {
			return dst
		}
		dst, text := extend(dst, int(n))
		s.random.fill(text, table)
		return dst
	}
}

// extend lengthens dst by n bytes, which it also returns and which hold anything.
func extend(dst []byte, n int) (longer, added []byte) {
	start := len(dst)
	if cap(dst)-start < n {
		dst = append(dst, make([]byte, n)...)
	}
	dst = dst[:start+n]
	return dst, dst[start:]
}

func compileHex(c *compiler, k *call) node {
	length := &argument[int64]{constant: 16}
	if len(k.operands) > 0 {
		length = newArgument(c, k.operands[0], parseLength)
	}
	return func(dst []byte, s *State) []byte {
		n := int(length.value(s))
		if !s.spend(k.offset, 2*n) {
			return dst
		}
		return s.random.appendHex(dst, n)
	}
}

func compileObjectID(*compiler, *call) node {
	return func(dst []byte, s *State) []byte { return s.random.appendHex(dst, 12) }
}

func compileUUID(c *compiler, k *call) node {
	keep := &argument[bool]{constant: true}
	if len(k.operands) > 0 {
		keep = newArgument(c, k.operands[0], parseTruth)
	}
	return func(dst []byte, s *State) []byte { return s.random.appendUUID(dst, keep.value(s)) }
}

func parseTruth(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, problemf(`write "true" or "false"`, "%q is neither true nor false", shorten(text))
}

// appendUUID appends a UUID of version 4 (RFC 9562).
func (r *random) appendUUID(dst []byte, dashes bool) []byte {
	high := r.next()&^uint64(0xf000) | 0x4000
	low := r.next()&^(uint64(3)<<62) | 1<<63
	for i := range 32 {
		if dashes && (i == 8 || i == 12 || i == 16 || i == 20) {
			dst = append(dst, '-')
		}
		word := high
		if i >= 16 {
			word = low
		}
		dst = append(dst, hexDigits[word>>(60-4*(i&15))&15])
	}
	return dst
}

// compileRandom runs every argument and keeps one: an index or put among them has its effect either way, as in the
// original.
func compileRandom(c *compiler, k *call) node {
	choices := newTexts(c, k.operands)
	if k.constant() {
		return func(dst []byte, s *State) []byte { return append(dst, pick(&s.random, choices).constant...) }
	}
	return func(dst []byte, s *State) []byte {
		chosen := int(s.random.below(uint64(len(choices))))
		for i, a := range choices {
			if i == chosen {
				dst = a.append(dst, s)
			} else if a.nested != nil {
				s.text(a.nested)
			}
		}
		return dst
	}
}

func compileConcat(c *compiler, k *call) node {
	parts := newTexts(c, k.operands)
	return func(dst []byte, s *State) []byte {
		for _, a := range parts {
			dst = a.append(dst, s)
		}
		return dst
	}
}

// compileSubstring counts in UTF-16 units, as Java does; end is exclusive.
func compileSubstring(c *compiler, k *call) node {
	text := newText(c, k.operands[0])
	begin := newArgument(c, k.operands[1], parseLength)
	end := &argument[int64]{constant: -1}
	if len(k.operands) > 2 {
		end = newArgument(c, k.operands[2], parseLength)
	}
	return func(dst []byte, s *State) []byte {
		start := len(dst)
		dst = text.append(dst, s)
		whole := dst[start:]
		a := utf16Offset(whole, begin.value(s))
		b := len(whole)
		if n := end.value(s); n >= 0 {
			b = utf16Offset(whole, n)
		}
		if s.fault == nil && (a < 0 || b < a) {
			s.fail(k.offset, problemf("choose a begin and an end within the text",
				"the substring lies outside of %q", shorten(string(whole))))
		}
		if s.fault != nil {
			return dst[:start]
		}
		return append(dst[:start], whole[a:b]...)
	}
}

// utf16Offset is the byte offset at which UTF-16 unit n of the text begins, or -1 when none does.
func utf16Offset(text []byte, n int64) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		r, size := utf8.DecodeRune(text[at:])
		if at += size; r > 0xffff { // two units
			n--
		}
	}
	if n != 0 {
		return -1
	}
	return at
}

// compileCase maps one character to one character; the few that Unicode turns into several stay as they are.
func compileCase(c *compiler, k *call, mapping func(rune) rune) node {
	text := newText(c, k.operands[0])
	return func(dst []byte, s *State) []byte {
		start := len(dst)
		dst = text.append(dst, s)
		for i, b := range dst[start:] {
			if b >= utf8.RuneSelf {
				return append(dst[:start], strings.Map(mapping, string(dst[start:]))...)
			}
			dst[start+i] = byte(mapping(rune(b)))
		}
		return dst
	}
}

func compileRegexify(c *compiler, k *call) node {
	pattern := newArgument(c, k.operands[len(k.operands)-1], parseRegexify)
	var locale *textArgument // it has no effect on a regular expression
	if len(k.operands) == 2 {
		locale = newText(c, k.operands[0])
	}
	return func(dst []byte, s *State) []byte {
		if locale != nil && locale.nested != nil {
			s.text(locale.nested)
		}
		g := pattern.value(s)
		if g == nil || !s.spend(k.offset, g.bytesMax) {
			return dst
		}
		return g.append(dst, &s.random)
	}
}
