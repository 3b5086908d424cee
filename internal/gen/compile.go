package gen

import (
	"strconv"
	"strings"
)

// compiler turns parsed elements into nodes. It keeps the first fault and goes on, so that its callers stay short.
type compiler struct {
	template         *Template
	functions        map[string]*function
	names            []string // of functions, for suggestions
	counters         map[string]*counter
	slots            map[string]int
	alphabets        map[string]*alphabet
	allowEnvironment bool
	fault            *Error
}

// function is an entry of the table of functions.
type function struct {
	names   string // separated by blanks; the first is the usual one
	forms   string // its argument lists, for messages
	min     int    // arguments
	max     int    // -1: any number
	compile func(c *compiler, k *call) node
}

func newCompiler(t *Template, allowEnvironment bool) *compiler {
	c := &compiler{
		template: t, allowEnvironment: allowEnvironment, functions: map[string]*function{},
		counters: map[string]*counter{}, slots: map[string]int{}, alphabets: map[string]*alphabet{},
	}
	for _, group := range [][]function{
		numberFunctions(), textFunctions(), counterFunctions(), memoryFunctions(), dateFunctions(), timeFunctions(),
		addressFunctions(), peopleFunctions(),
	} {
		for i := range group {
			for name := range strings.FieldsSeq(group[i].names) {
				c.functions[name] = &group[i]
				c.names = append(c.names, name)
			}
		}
	}
	c.names = append(c.names, repeatName)
	return c
}

func (c *compiler) fail(at int, err error) {
	if c.fault == nil {
		c.fault = locate(c.template.text, at, err)
	}
}

func (c *compiler) block(elements []element) block {
	b := make(block, 0, len(elements))
	for _, e := range elements {
		made := piece{offset: e.offset}
		switch {
		case e.call != nil:
			made.make = c.call(e.call)
		case e.repeat != nil:
			made.make = c.repeat(e.repeat)
		default:
			made.make = func(dst []byte, _ *State) []byte { return append(dst, e.literal...) }
		}
		b = append(b, made)
	}
	return b
}

// call compiles a function call. When all its arguments are constants it is run once, so that the checks that the node
// makes at run time also hold at compile time.
func (c *compiler) call(k *call) node {
	nothing := func(dst []byte, _ *State) []byte { return dst }
	f := c.functions[k.name]
	switch {
	case k.name == repeatName:
		c.fail(k.offset, problemf(repeatForm, "repeat cannot be an argument"))
		return nothing
	case f == nil:
		c.fail(k.offset, problemf(suggest(k.name, c.names), "unknown function %s", shorten(k.name)))
		return nothing
	case len(k.operands) < f.min || f.max >= 0 && len(k.operands) > f.max:
		c.fail(k.offset, problemf("write "+f.usage(),
			"%s does not take %s", k.name, plural(len(k.operands), "argument")))
		return nothing
	}
	made := f.compile(c, k)
	if c.fault != nil {
		return nothing
	}
	if k.constant() {
		trial := newTrial(c.template)
		made(nil, trial)
		c.fault = trial.fault
	}
	return made
}

func (k *call) constant() bool {
	for _, o := range k.operands {
		if o.call != nil {
			return false
		}
	}
	return true
}

// usage lists the forms of the function: {{integer(min,max)}}.
func (f *function) usage() string {
	name, _, _ := strings.Cut(f.names, " ")
	var forms []string
	for form := range strings.SplitSeq(f.forms, "|") {
		forms = append(forms, "{{"+name+"("+form+")}}")
	}
	return strings.Join(forms, " or ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// argument is an operand of a call: a constant that was read at compile time, or a nested call whose result is read
// each time.
type argument[T any] struct {
	constant T
	nested   node // nil: constant
	parse    func(text string) (T, error)
	at       int
}

func newArgument[T any](c *compiler, o operand, parse func(text string) (T, error)) *argument[T] {
	a := &argument[T]{parse: parse, at: o.offset}
	if o.call != nil {
		a.nested = c.call(o.call)
		return a
	}
	var err error
	if a.constant, err = parse(o.text); err != nil {
		c.fail(o.offset, err)
	}
	return a
}

// value is the argument. When a nested call gave text that does not fit, the state fails and the value is zero.
func (a *argument[T]) value(s *State) T {
	if a.nested == nil {
		return a.constant
	}
	v, err := a.parse(string(s.text(a.nested)))
	if err != nil {
		s.fail(a.at, err)
	}
	return v
}

// textArgument is an operand whose text is used as it is.
type textArgument struct {
	constant string
	nested   node
	at       int
}

func newText(c *compiler, o operand) *textArgument {
	a := &textArgument{constant: o.text, at: o.offset}
	if o.call != nil {
		a.nested = c.call(o.call)
	}
	return a
}

// append appends the text to dst.
func (a *textArgument) append(dst []byte, s *State) []byte {
	if a.nested == nil {
		return append(dst, a.constant...)
	}
	return a.nested(dst, s)
}

func newTexts(c *compiler, operands []operand) []*textArgument {
	texts := make([]*textArgument, len(operands))
	for i, o := range operands {
		texts[i] = newText(c, o)
	}
	return texts
}

// constantText is an operand that must not be a call.
func (c *compiler) constantText(k *call, i int, why string) string {
	if k.operands[i].call != nil {
		c.fail(k.operands[i].offset, problemf("write it in quotes", "%s of %s must not be a call", why, k.name))
	}
	return k.operands[i].text
}

func (c *compiler) alphabet(letters string) *alphabet {
	if c.alphabets[letters] == nil {
		c.alphabets[letters] = newAlphabet(letters)
	}
	return c.alphabets[letters]
}

// repeat compiles ['{{repeat(n)}}', body]: the body n times with commas between.
func (c *compiler) repeat(r *repetition) node {
	k := r.count
	if n := len(k.operands); n < 1 || n > 2 {
		c.fail(k.offset, problemf("write repeat(n) or repeat(min,max)",
			"repeat does not take %s", plural(n, "argument")))
		return nil
	}
	low := newArgument(c, k.operands[0], parseRepeat)
	high := low
	if len(k.operands) == 2 {
		high = newArgument(c, k.operands[1], parseRepeat)
	}
	body, tail := c.block(r.body), r.tail
	return func(dst []byte, s *State) []byte {
		n := low.value(s)
		if high != low {
			most := high.value(s)
			if most < n {
				s.fail(k.offset, reversed(k, strconv.FormatInt(n, 10), strconv.FormatInt(most, 10)))
				return dst
			}
			n = s.random.between(n, most)
		}
		for i := range n {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst = body.append(dst, s); s.fault != nil {
				return dst
			}
		}
		if n > 0 {
			dst = append(dst, tail...)
		}
		return dst
	}
}

func parseRepeat(text string) (int64, error) {
	return parseWithin(text, "a repeat count", 0, messageStepsMax)
}

func reversed(k *call, low, high string) error {
	return problemf("exchange them", "the range of %s ends at %s, before it begins at %s", k.name, high, low)
}
