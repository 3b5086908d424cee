package gen

import "strings"

// depthMax bounds the nesting of calls and of repeats, so that a hostile template cannot exhaust the stack.
const depthMax = 64

// element is a piece of a template at a byte offset: literal text, a call, or a repeated body. Exactly one is set.
type element struct {
	offset  int
	literal string
	call    *call
	repeat  *repetition
}

// call is f(arguments) at a byte offset of the template text.
type call struct {
	name     string
	operands []operand
	offset   int
}

// operand is an argument: a nested call, or constant text when call is nil.
type operand struct {
	call   *call
	text   string
	offset int
}

// repetition is the array form '{{repeat(n)}}', with the element that follows.
type repetition struct {
	count *call
	body  []element
	tail  string // the comma after the body, which goes when the body occurs no times
}

// parser walks the template text once. Its methods return a *Error.
type parser struct {
	text string
	at   int
}

func (p *parser) fail(at int, do, format string, args ...any) error {
	return locate(p.text, at, problemf(do, format, args...))
}

// block parses the text from the current position to end.
func (p *parser) block(end, depth int) ([]element, error) {
	if depth > depthMax {
		return nil, p.fail(p.at, "flatten the template", "repeats are nested more than %d deep", depthMax)
	}
	var elements []element
	start := p.at
	for {
		open := strings.Index(p.text[p.at:end], "{{")
		if open < 0 {
			p.at = end
			return p.appendLiteral(elements, start, end), nil
		}
		open += p.at
		c, err := p.braces(open)
		if err != nil {
			return nil, err
		}
		if p.at > end { // only a call that runs over the end of a repeat's body
			return nil, p.fail(open, "close it with }}", "the call %s is not closed", c.name)
		}
		if c.name != repeatName {
			elements = p.appendLiteral(elements, start, open)
			elements = append(elements, element{offset: c.offset, call: c})
		} else {
			elements = p.appendLiteral(elements, start, max(start, open-1))
			repeated, err := p.repetition(c, open, end, depth)
			if err != nil {
				return nil, err
			}
			elements = append(elements, element{offset: c.offset, repeat: repeated})
		}
		start = p.at
	}
}

func (p *parser) appendLiteral(elements []element, start, end int) []element {
	if start == end {
		return elements
	}
	return append(elements, element{offset: start, literal: p.text[start:end]})
}

// braces parses {{call}} at the offset and leaves the position after it.
func (p *parser) braces(open int) (*call, error) {
	p.at = open + 2
	p.space()
	c, err := p.call(1)
	if err != nil {
		return nil, err
	}
	p.space()
	if !strings.HasPrefix(p.text[p.at:], "}}") {
		return nil, p.fail(p.at, "end the call with }}", `expected "}}" after %s(...), found %s`, c.name, p.found())
	}
	p.at += 2
	return c, nil
}

func (p *parser) call(depth int) (*call, error) {
	if depth > depthMax {
		return nil, p.fail(p.at, "flatten the template", "calls are nested more than %d deep", depthMax)
	}
	c := &call{offset: p.at}
	c.name = p.word()
	if c.name == "" {
		return nil, p.fail(p.at, `write for example {{uuid()}}; for two braces as text write {{concat("{","{")}}`,
			"expected a function name, found %s", p.found())
	}
	p.space()
	if !p.take('(') {
		return nil, p.fail(p.at, "write the parentheses, or quotes around it if it is text: {{uuid()}}, \"true\"",
			`expected "(" after %s, found %s`, shorten(c.name), p.found())
	}
	p.space()
	if p.take(')') {
		return c, nil
	}
	for {
		o, err := p.operand(depth)
		if err != nil {
			return nil, err
		}
		c.operands = append(c.operands, o)
		p.space()
		switch {
		case p.take(','):
			p.space()
		case p.take(')'):
			return c, nil
		default:
			return nil, p.fail(p.at, "separate arguments with a comma and end them with a parenthesis",
				`expected "," or ")" in the arguments of %s, found %s`, c.name, p.found())
		}
	}
}

func (p *parser) operand(depth int) (operand, error) {
	offset := p.at
	var err error
	o := operand{offset: offset}
	switch b := p.peek(); {
	case b == '"' || b == '\'':
		o.text, err = p.quoted(b)
	case b == '-' || b == '.' || isDigit(b):
		o.text, err = p.number()
	case isLetter(b):
		o.call, err = p.call(depth + 1)
	default:
		err = p.fail(offset, `write "text", 12 or f()`, "expected an argument, found %s", p.found())
	}
	return o, err
}

// quoted reads text in quotes. \{ \} and \' stand for the character itself. Every other escape stays as it is
// written, as in json-data-generator: it is then an escape of the JSON string that the text lands in, or of a regular
// expression.
func (p *parser) quoted(quote byte) (string, error) {
	start := p.at
	var text strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch b := p.text[p.at]; {
		case b == quote:
			p.at++
			return text.String(), nil
		case b == '\n' || b == '\r':
			return "", p.fail(start, `end it with the same quote; write a line break as \n`,
				"the text that begins here is not closed on its line")
		case b == '\\' && p.at+1 < len(p.text):
			p.at++
			if next := p.text[p.at]; next != '{' && next != '}' && next != '\'' {
				text.WriteByte('\\')
			}
			text.WriteByte(p.text[p.at])
		default:
			text.WriteByte(b)
		}
	}
	return "", p.fail(start, "end it with the same quote", "the text that begins here is not closed")
}

// number reads a whole number with an optional suffix L, or a decimal one with an optional suffix f or d.
func (p *parser) number() (string, error) {
	start := p.at
	p.take('-')
	digits := p.digits()
	if p.take('.') {
		digits += p.digits()
	}
	if digits > 0 && (p.peek() == 'e' || p.peek() == 'E') {
		p.at++
		if !p.take('-') {
			p.take('+')
		}
		digits = p.digits()
	}
	if digits > 0 && strings.IndexByte("LfFdD", p.peek()) >= 0 && p.peek() != 0 {
		p.at++
	}
	if b := p.peek(); digits == 0 || isDigit(b) || isLetter(b) || b == '.' {
		return "", p.fail(start, "write it as 12, -3 or 0.5, or quote it", "%s is not a number",
			shorten(p.text[start:min(p.at+1, len(p.text))]))
	}
	return p.text[start:p.at], nil
}

func (p *parser) digits() (n int) {
	for ; isDigit(p.peek()); p.at++ {
		n++
	}
	return n
}

// word reads an identifier; names of functions may hold a dash.
func (p *parser) word() string {
	start := p.at
	for isLetter(p.peek()) || p.at > start && isDigit(p.peek()) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *parser) space() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
}

// peek is the byte at the position, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) take(b byte) bool {
	if p.peek() == b && p.at < len(p.text) {
		p.at++
		return true
	}
	return false
}

// found names what stands at the position, for messages.
func (p *parser) found() string {
	if p.at >= len(p.text) {
		return "the end of the template"
	}
	for _, r := range p.text[p.at:] {
		return `"` + string(r) + `"`
	}
	return ""
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isLetter(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_' || b == '-'
}
