package gen

import "testing"

// The expected texts are those of java.util.Formatter for a Double, in the locale en-US.
func TestFloatFormat(t *testing.T) {
	for _, c := range []struct {
		format string
		value  float64
		want   string
	}{
		{"%.2f", 3.14159, "3.14"},
		{"%f", 3.5, "3.500000"},
		{"%.0f", 2.6, "3"},
		{"%8.2f", 3.14159, "    3.14"},
		{"%-8.2f|", 3.14159, "3.14    |"},
		{"%08.2f", -3.14159, "-0003.14"},
		{"%+.1f", 2, "+2.0"},
		{"% .1f", 2, " 2.0"},
		{"%,.2f", 1234567.891, "1,234,567.89"},
		{"%,.0f", 123, "123"},
		{"%,.0f", -1234, "-1,234"},
		{"%(.2f", -5, "(5.00)"},
		{"%e", 12345.678, "1.234568e+04"},
		{"%.3E", 0.00012349, "1.235E-04"},
		{"%s", 0.5, "0.5"},
		{"%6s", 0.5, "   0.5"},
		{"%1$.1f", 0.26, "0.3"},
		{"%,010.2f", -1234.5, "-01,234.50"},
		{"%(010.2f", -5, "(00005.00)"},
		{"%(,.2f", -1234.5, "(1,234.50)"},
		{"$%.2f%%", 7, "$7.00%"},
		{"none", 7, "none"},
	} {
		f, err := parseFloatFormat(c.format)
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		if got := string(f.append(nil, c.value, 64)); got != c.want {
			t.Errorf("%s of %g gave %q, want %q", c.format, c.value, got, c.want)
		}
	}
}

func TestFloatFormatRefused(t *testing.T) {
	for format, want := range map[string]string{
		"%d": "not for numbers with decimals", "%": "no conversion", "%.f": "precision", "%x": "no conversion",
		"%.2f %.2f": "two conversions", "%-f": "flags", "%-08f": "flags", "%,e": "flags", "%.2s": "flags",
		"%++f": "flags", "%1000f": "too large", "%.101f": "too large", "%g": "no conversion",
	} {
		expectError(t, `{{double(1,2,"`+format+`")}}`, want)
	}
}

// The expected texts are those of Float.toString and Double.toString.
func TestJavaFloat(t *testing.T) {
	for _, c := range []struct {
		value float64
		bits  int
		want  string
	}{
		{0, 64, "0.0"}, {1, 64, "1.0"}, {-1.5, 64, "-1.5"}, {0.001, 64, "0.001"}, {0.0005, 64, "5.0E-4"},
		{9999999, 64, "9999999.0"}, {1e7, 64, "1.0E7"}, {1.25e-10, 64, "1.25E-10"}, {-1e300, 64, "-1.0E300"},
		{0.1, 64, "0.1"}, {float64(float32(0.1)), 32, "0.1"}, {float64(float32(16777216)), 32, "1.6777216E7"},
	} {
		if got := string(appendJavaFloat(nil, c.value, c.bits)); got != c.want {
			t.Errorf("%g in %d bits gave %s, want %s", c.value, c.bits, got, c.want)
		}
	}
}
