package gen

import (
	"math"
	"strconv"
	"strings"
)

func numberFunctions() []function {
	return []function{
		{"integer", "min,max", 2, 2, compileInteger},
		{"long", "min,max", 2, 2, compileLong},
		{"float floating", "min,max|min,max,format", 2, 3, compileFloat},
		{"double", "min,max|min,max,format", 2, 3, compileDouble},
		{"bool", "|probability", 0, 1, compileBool},
	}
}

// compileInteger: min inclusive, max exclusive, 32 bits, as Random.nextInt in Java.
func compileInteger(c *compiler, k *call) node {
	low, high := newArgument(c, k.operands[0], parseInteger), newArgument(c, k.operands[1], parseInteger)
	return func(dst []byte, s *State) []byte {
		a, b := low.value(s), high.value(s)
		if b <= a {
			s.fail(k.offset, problemf("raise the second number",
				"integer(%d,%d) has no number to choose: the second is exclusive", a, b))
			return dst
		}
		return strconv.AppendInt(dst, a+int64(s.random.below(uint64(b-a))), 10)
	}
}

// compileLong: both ends inclusive, 64 bits.
func compileLong(c *compiler, k *call) node {
	low, high := newArgument(c, k.operands[0], parseLong), newArgument(c, k.operands[1], parseLong)
	return func(dst []byte, s *State) []byte {
		a, b := low.value(s), high.value(s)
		if b < a {
			s.fail(k.offset, reversed(k, strconv.FormatInt(a, 10), strconv.FormatInt(b, 10)))
			return dst
		}
		return strconv.AppendInt(dst, s.random.between(a, b), 10)
	}
}

// compileFloat computes in 32 bits, as the original does.
func compileFloat(c *compiler, k *call) node {
	low, high := newArgument(c, k.operands[0], parseFloat32), newArgument(c, k.operands[1], parseFloat32)
	format := c.floatFormat(k)
	return func(dst []byte, s *State) []byte {
		a, b := float32(low.value(s)), float32(high.value(s))
		v := a + (b-a)*s.random.float32()
		if !checkRange(s, k, float64(a), float64(b), float64(b-a)) {
			return dst
		}
		return format(dst, s, float64(v), 32)
	}
}

func compileDouble(c *compiler, k *call) node {
	low, high := newArgument(c, k.operands[0], parseFloat64), newArgument(c, k.operands[1], parseFloat64)
	format := c.floatFormat(k)
	return func(dst []byte, s *State) []byte {
		a, b := low.value(s), high.value(s)
		v := a + (b-a)*s.random.float64()
		if !checkRange(s, k, a, b, b-a) {
			return dst
		}
		return format(dst, s, v, 64)
	}
}

func checkRange(s *State, k *call, low, high, width float64) bool {
	switch {
	case high < low:
		s.fail(k.offset, reversed(k, strconv.FormatFloat(low, 'g', -1, 64), strconv.FormatFloat(high, 'g', -1, 64)))
	case math.IsInf(width, 0):
		s.fail(k.offset, problemf("choose numbers that are nearer",
			"the range of %s is too wide to compute with", k.name))
	default:
		return true
	}
	return false
}

// floatFormat gives the way to write a number: the third operand, or as Java writes floats and doubles.
func (c *compiler) floatFormat(k *call) func(dst []byte, s *State, v float64, bits int) []byte {
	if len(k.operands) < 3 {
		return func(dst []byte, _ *State, v float64, bits int) []byte { return appendJavaFloat(dst, v, bits) }
	}
	format := newArgument(c, k.operands[2], parseFloatFormat)
	return func(dst []byte, s *State, v float64, bits int) []byte { return format.value(s).append(dst, v, bits) }
}

func compileBool(c *compiler, k *call) node {
	chance := newProbability(c, k)
	return func(dst []byte, s *State) []byte {
		return strconv.AppendBool(dst, s.random.float64() < chance.value(s))
	}
}

// newProbability is the first operand, or a half.
func newProbability(c *compiler, k *call) *argument[float64] {
	if len(k.operands) == 0 {
		return &argument[float64]{constant: 0.5}
	}
	return newArgument(c, k.operands[0], func(text string) (float64, error) {
		p, err := parseFloat64(text)
		if err == nil && (p < 0 || p > 1) {
			err = problemf("choose a number from 0 to 1", "the probability of %s is %s", k.name, text)
		}
		return p, err
	})
}

func parseInteger(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (v < math.MinInt32 || v > math.MaxInt32) {
		return 0, problemf("use long", "%s does not fit the 32 bits of an integer", text)
	}
	if err != nil {
		return 0, notNumber(text, "a whole number")
	}
	return v, nil
}

// parseLong takes the suffix L of Java.
func parseLong(text string) (int64, error) {
	v, err := strconv.ParseInt(strings.TrimSuffix(text, "L"), 10, 64)
	if err != nil {
		return 0, notNumber(text, "a whole number of 64 bits")
	}
	return v, nil
}

// parseWithin reads a whole number that must lie in a range.
func parseWithin(text, what string, low, high int64) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, notNumber(text, "a whole number for "+what)
	}
	if v < low || v > high {
		return 0, problemf("choose "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10),
			"%d is out of range for %s", v, what)
	}
	return v, nil
}

func parseLength(text string) (int64, error) {
	return parseWithin(text, "a length", 0, MessageBytesMax)
}

func parseFloat64(text string) (float64, error) { return parseFloating(text, 64) }
func parseFloat32(text string) (float64, error) { return parseFloating(text, 32) }

// parseFloating takes the suffixes f and d of Java. NaN and infinity are no numbers here: JSON has none.
func parseFloating(text string, bits int) (float64, error) {
	digits := text
	if n := len(text); n > 1 && strings.IndexByte("fFdD", text[n-1]) >= 0 {
		digits = text[:n-1]
	}
	v, err := strconv.ParseFloat(digits, bits)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, notNumber(text, "a number of "+strconv.Itoa(bits)+" bits")
	}
	return v, nil
}

func notNumber(text, want string) error {
	return problemf("write a number", "%q is not %s", shorten(text), want)
}
