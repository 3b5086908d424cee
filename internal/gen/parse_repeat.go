package gen

import "strings"

// repeatName is the one function that is part of the syntax: it makes an array longer rather than yield text.
const repeatName = "repeat"

const repeatForm = "write it as the first element of an array, in single quotes: ['{{repeat(3)}}', {...}]"

// repetition parses what follows {{repeat(...)}}, which began at open: the quote, the comma and the body.
func (p *parser) repetition(count *call, open, end, depth int) (*repetition, error) {
	if open == 0 || p.text[open-1] != '\'' || !p.take('\'') {
		return nil, p.fail(open, repeatForm, "repeat stands outside of single quotes")
	}
	if !strings.HasSuffix(strings.TrimRight(p.text[:open-1], " \t\r\n"), "[") {
		return nil, p.fail(open, repeatForm, "repeat is not the first element of an array")
	}
	p.space()
	if !p.take(',') {
		return nil, p.fail(p.at, repeatForm, "expected a comma and the element to repeat, found %s", p.found())
	}
	stop, err := p.bodyEnd(p.at, end)
	if err != nil {
		return nil, err
	}
	repeated := &repetition{count: count}
	if repeated.body, err = p.block(stop, depth+1); err != nil {
		return nil, err
	}
	bodyEnd := p.at
	p.space()
	if p.at < end && p.take(',') {
		repeated.tail = ","
	} else {
		p.at = bodyEnd
	}
	return repeated, nil
}

// bodyEnd finds where the body of a repeat ends: after the first element that holds an object or a call, or at the
// end of the array when the elements are plain values (['{{repeat(2)}}', "a", "b"] gives a, b, a, b), as
// json-data-generator does it.
func (p *parser) bodyEnd(from, end int) (int, error) {
	s := bodyScanner{parser: p, at: from, end: end}
	for s.at < s.end {
		done, err := s.step()
		if err != nil {
			return 0, err
		}
		if done {
			body := strings.TrimRight(p.text[from:s.at], " \t\r\n")
			if strings.TrimSpace(body) == "" {
				return 0, p.fail(from, repeatForm, "there is no element to repeat")
			}
			return from + len(body), nil
		}
	}
	return 0, p.fail(from, "close it with ]", "the array of this repeat is not closed")
}

// bodyScanner walks over JSON-like text with calls in it, without looking into strings and calls.
type bodyScanner struct {
	*parser
	at, end int
	depth   int
	quote   byte // of the string that at is in, or 0
	braces  bool // an object or a call was seen
}

// step passes one byte, or one call; done means that the body ends at s.at.
func (s *bodyScanner) step() (done bool, err error) {
	b := s.text[s.at]
	if strings.HasPrefix(s.text[s.at:s.end], "{{") {
		s.braces = true
		inner := parser{text: s.text}
		_, err := inner.braces(s.at)
		s.at = inner.at
		return false, err
	}
	if s.quote != 0 {
		switch b {
		case '\\':
			s.at++
		case s.quote:
			s.quote = 0
		}
		s.at++
		return false, nil
	}
	switch b {
	case '"', '\'':
		s.quote = b
	case '{', '[':
		s.braces = s.braces || b == '{'
		s.depth++
	case '}', ']':
		if s.depth == 0 {
			return true, nil
		}
		s.depth--
	case ',':
		if s.depth == 0 && s.braces {
			return true, nil
		}
	case '<':
		return false, s.fail(s.at, "write the template as JSON", "repeated XML elements are not supported")
	}
	s.at++
	return false, nil
}
