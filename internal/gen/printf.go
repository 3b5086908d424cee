package gen

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// floatFormat is a Java printf format for one number: text around %[flags][width][.precision]conversion, with the
// conversions f, e, E and s (java.util.Formatter). Others are refused. The exact binary value is rounded; Java rounds
// its shortest decimal text, half up, which differs for a number like 0.25 alone.
type floatFormat struct {
	before, after string
	conversion    byte // 0: no conversion, the text is all
	precision     int
	width         int
	flags         string
}

const floatFormatForm = `write a format such as "%.2f", "%08.3f", "%,.2f" or "%e"`

func parseFloatFormat(text string) (*floatFormat, error) {
	f := &floatFormat{precision: 6}
	part := &f.before
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			*part += text[i : i+1]
			continue
		}
		rest := text[i+1:]
		if first(rest) == '%' {
			*part += "%"
			i++
			continue
		}
		if f.conversion != 0 {
			return nil, problemf(floatFormatForm, "the format %q has two conversions for one number", shorten(text))
		}
		n, err := f.conversionAt(rest)
		if err != nil {
			return nil, err
		}
		i += n
		part = &f.after
	}
	return f, nil
}

func first(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// conversionAt reads what follows a percent sign and returns its length.
func (f *floatFormat) conversionAt(text string) (int, error) {
	rest := strings.TrimPrefix(text, "1$")
	n := 0
	for n < len(rest) && strings.IndexByte("-+ 0,(", rest[n]) >= 0 {
		n++
	}
	f.flags, rest = rest[:n], rest[n:]
	var err error
	if f.width, rest, err = leadingNumber(rest, 0); err != nil {
		return 0, err
	}
	exact := strings.HasPrefix(rest, ".")
	if exact {
		if f.precision, rest, err = leadingNumber(rest[1:], -1); err != nil {
			return 0, err
		}
	}
	f.conversion = first(rest)
	switch {
	case f.precision < 0:
		return 0, problemf(floatFormatForm, "the precision of the format %q has no digits", "%"+shorten(text))
	case f.conversion == 'd':
		return 0, problemf("write %.0f for a whole number", "%%d is not for numbers with decimals")
	case f.conversion == 0 || strings.IndexByte("feEs", f.conversion) < 0:
		return 0, problemf(floatFormatForm, "the format %q has no conversion f, e, E or s", "%"+shorten(text))
	}
	return len(text) - len(rest) + 1, f.checkFlags(exact)
}

// checkFlags refuses what java.util.Formatter refuses.
func (f *floatFormat) checkFlags(exact bool) error {
	has := func(flag string) bool { return strings.Contains(f.flags, flag) }
	bad := has("-") && has("0") || has("+") && has(" ") || (has("-") || has("0")) && f.width == 0 ||
		f.conversion != 'f' && has(",") || f.conversion == 's' && (exact || strings.Trim(f.flags, "-") != "")
	for _, flag := range "-+ 0,(" {
		bad = bad || strings.Count(f.flags, string(flag)) > 1
	}
	if bad {
		return problemf(floatFormatForm, "the flags %q do not go together, or not with %%%c", f.flags, f.conversion)
	}
	return nil
}

// leadingNumber reads the digits at the start of text, at most 100.
func leadingNumber(text string, none int) (n int, rest string, err error) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == 0 {
		return none, text, nil
	}
	if n, err = strconv.Atoi(text[:i]); err != nil || n > 100 {
		return 0, "", problemf("choose at most 100",
			"width or precision %s of a format is too large", shorten(text[:i]))
	}
	return n, text[i:], nil
}

func (f *floatFormat) append(dst []byte, v float64, bits int) []byte {
	if f == nil { // the format came from a call and did not fit; the state has failed
		return dst
	}
	dst = append(dst, f.before...)
	if f.conversion != 0 {
		dst = f.number(dst, v, bits)
	}
	return append(dst, f.after...)
}

func (f *floatFormat) number(dst []byte, v float64, bits int) []byte {
	if f.conversion == 's' {
		var buffer [32]byte
		return f.pad(dst, "", appendJavaFloat(buffer[:0], v, bits), "")
	}
	// 309 digits before the point, 100 behind it.
	var buffer [512]byte
	digits := strconv.AppendFloat(buffer[:0], math.Abs(v), f.conversion, f.precision, 64)
	sign, closing := "", ""
	switch {
	case math.Signbit(v) && strings.Contains(f.flags, "("):
		sign, closing = "(", ")"
	case math.Signbit(v):
		sign = "-"
	case strings.Contains(f.flags, "+"):
		sign = "+"
	case strings.Contains(f.flags, " "):
		sign = " "
	}
	if strings.Contains(f.flags, ",") {
		var grouped [640]byte
		digits = group(grouped[:0], digits)
	}
	return f.pad(dst, sign, digits, closing)
}

// group puts a comma between every three digits before the point.
func group(dst, digits []byte) []byte {
	whole := bytes.IndexByte(digits, '.')
	if whole < 0 {
		whole = len(digits)
	}
	for i, d := range digits {
		if i > 0 && i < whole && (whole-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, d)
	}
	return dst
}

func (f *floatFormat) pad(dst []byte, sign string, digits []byte, closing string) []byte {
	missing := max(0, f.width-len(sign)-len(digits)-len(closing))
	left := strings.Contains(f.flags, "-")
	zero := strings.Contains(f.flags, "0")
	if !left && !zero {
		dst = appendTimes(dst, ' ', missing)
	}
	dst = append(dst, sign...)
	if zero {
		dst = appendTimes(dst, '0', missing)
	}
	dst = append(append(dst, digits...), closing...)
	if left {
		dst = appendTimes(dst, ' ', missing)
	}
	return dst
}

func appendTimes(dst []byte, b byte, n int) []byte {
	for range n {
		dst = append(dst, b)
	}
	return dst
}

// appendJavaFloat writes a number as Float.toString and Double.toString do: at least one decimal, and an exponent
// below 10^-3 and from 10^7 on.
func appendJavaFloat(dst []byte, v float64, bits int) []byte {
	size := math.Abs(v)
	if size == 0 || size >= 1e-3 && size < 1e7 {
		start := len(dst)
		dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
		if bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	var buffer [40]byte
	mantissa, exponent, _ := bytes.Cut(strconv.AppendFloat(buffer[:0], v, 'e', -1, bits), []byte("e"))
	dst = append(dst, mantissa...)
	if bytes.IndexByte(mantissa, '.') < 0 {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	if exponent[0] == '-' {
		dst = append(dst, '-')
	}
	return append(dst, bytes.TrimLeft(exponent[1:], "0")...)
}
