package gen

import "unicode"

func peopleFunctions() []function {
	return []function{
		{"firstName", `|"male"|"female"`, 0, 1, compileFirstName},
		{"lastName surname", "", 0, 0, wordFunction(lastNames)},
		{"username", "", 0, 0, compileUsername},
		{"gender", "|probability of male", 0, 1, compileGender},
		{"email", "|domain", 0, 1, compileEmail},
		{"phone", "", 0, 0, compilePhone},
		{"ssn", "", 0, 0, compileSSN},
		{"company", "", 0, 0, wordFunction(companies)},
	}
}

func compileFirstName(c *compiler, k *call) node {
	names := [2][]string{femaleNames(), maleNames()}
	if len(k.operands) == 0 {
		return func(dst []byte, s *State) []byte { return append(dst, pick(&s.random, names[s.random.below(2)])...) }
	}
	gender := newArgument(c, k.operands[0], parseGender)
	return func(dst []byte, s *State) []byte { return append(dst, pick(&s.random, names[gender.value(s)])...) }
}

// parseGender gives the index of the names.
func parseGender(text string) (int, error) {
	switch text {
	case "female":
		return 0, nil
	case "male":
		return 1, nil
	}
	return 0, problemf(`write "male" or "female"`, "firstName has no names for %q", shorten(text))
}

func compileGender(c *compiler, k *call) node {
	male := newProbability(c, k)
	return func(dst []byte, s *State) []byte {
		if s.random.float64() < male.value(s) {
			return append(dst, "male"...)
		}
		return append(dst, "female"...)
	}
}

// people picks names in lower case, for user names and addresses.
type people struct{ first, last, companies []string }

func newPeople() people {
	return people{append(femaleNames(), maleNames()...), lastNames(), companies()}
}

func compileUsername(*compiler, *call) node {
	p := newPeople()
	return func(dst []byte, s *State) []byte {
		dst = appendLower(dst, pick(&s.random, p.first)[:1])
		return appendLower(dst, pick(&s.random, p.last))
	}
}

func compileEmail(c *compiler, k *call) node {
	p := newPeople()
	var domain *textArgument
	if len(k.operands) > 0 {
		domain = newText(c, k.operands[0])
	}
	return func(dst []byte, s *State) []byte {
		dst = append(appendLower(dst, pick(&s.random, p.first)), '.')
		dst = append(appendLower(dst, pick(&s.random, p.last)), '@')
		if domain == nil {
			return append(appendLower(dst, pick(&s.random, p.companies)), ".com"...)
		}
		start := len(dst)
		dst = domain.append(dst, s)
		for i, b := range dst[start:] {
			if 'A' <= b && b <= 'Z' {
				dst[start+i] = b - 'A' + 'a'
			}
		}
		return dst
	}
}

// appendLower appends a word of ASCII letters in lower case.
func appendLower(dst []byte, word string) []byte {
	for i := range len(word) {
		dst = append(dst, byte(unicode.ToLower(rune(word[i]))))
	}
	return dst
}

// compilePhone: an area 100 to 777, an exchange 000 to 742, a line 0000 to 9999.
func compilePhone(*compiler, *call) node {
	return func(dst []byte, s *State) []byte {
		r := &s.random
		area := 100*r.below(7) + 10*r.below(8) + r.below(8) + 100
		return appendGroups(dst, [3]uint64{area, r.below(743), r.below(10000)}, [3]int{3, 3, 4})
	}
}

func compileSSN(*compiler, *call) node {
	return func(dst []byte, s *State) []byte {
		r := &s.random
		return appendGroups(dst, [3]uint64{1 + r.below(798), 1 + r.below(98), 1 + r.below(9998)}, [3]int{3, 2, 4})
	}
}

// appendGroups writes numbers of fixed widths with dashes between.
func appendGroups(dst []byte, numbers [3]uint64, widths [3]int) []byte {
	for i, n := range numbers {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = appendPadded(dst, int(n), widths[i])
	}
	return dst
}

// compileLorem: words begin with "lorem ipsum"; a paragraph has 2 to 6 sentences of 5 to 34 words. The tab before a
// paragraph and the line breaks between two are written as JSON escapes, for the string that they land in.
func compileLorem(c *compiler, k *call) node {
	count := newArgument(c, k.operands[0], func(text string) (int64, error) {
		return parseWithin(text, "the count of lorem", 1, 1<<20)
	})
	paragraphs := newArgument(c, k.operands[1], parseLoremUnit)
	words := loremWords()
	return func(dst []byte, s *State) []byte {
		n := int(count.value(s))
		if !paragraphs.value(s) {
			return appendWords(dst, s, k.offset, words, n, "lorem ipsum")
		}
		for i := range n {
			if i > 0 {
				dst = append(dst, `\n\n`...)
			}
			dst = append(dst, `\t`...)
			for j := range s.random.between(2, 6) {
				if j > 0 {
					dst = append(dst, ' ')
				}
				dst = append(appendWords(dst, s, k.offset, words, int(s.random.between(5, 34)), "Lorem ipsum"), '.')
			}
			if s.fault != nil {
				break
			}
		}
		return dst
	}
}

func parseLoremUnit(text string) (paragraphs bool, err error) {
	if text != "words" && text != "paragraphs" {
		return false, problemf(`write "words" or "paragraphs"`, "lorem does not make %q", shorten(text))
	}
	return text == "paragraphs", nil
}

// appendWords writes n words; two or more begin with the opening, which counts as two.
func appendWords(dst []byte, s *State, at int, words []string, n int, opening string) []byte {
	const bytesMax = 16 // a word of the list and a space
	if !s.spend(at, n*bytesMax) {
		return dst
	}
	if n == 1 {
		return append(dst, pick(&s.random, words)...)
	}
	dst = append(dst, opening...)
	for range n - 2 {
		dst = append(append(dst, ' '), pick(&s.random, words)...)
	}
	return dst
}
