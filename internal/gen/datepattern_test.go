package gen

import (
	"testing"
	"time"
)

// The expected texts are those of java.text.SimpleDateFormat in the locale en-US and the zone UTC.
func TestDatePatternFormat(t *testing.T) {
	midnight := time.Date(2026, 2, 7, 0, 0, 0, 7_000_000, time.UTC)
	for _, c := range []struct{ pattern, noon, midnight string }{
		{"EEE, d MMM yyyy HH:mm:ss z", "Sat, 7 Feb 2026 12:34:56 UTC", "Sat, 7 Feb 2026 00:00:00 UTC"},
		{"EEEEE dd MMMMM yyyy HH:mm:ss.SSSZ", "Saturday 07 February 2026 12:34:56.789+0000",
			"Saturday 07 February 2026 00:00:00.007+0000"},
		{"yy/M/d y yyy yyyyy", "26/2/7 2026 2026 02026", "26/2/7 2026 2026 02026"},
		{"D DDD u uu", "38 038 6 06", "38 038 6 06"},
		{"k kk K KK h hh a", "12 12 0 00 12 12 PM", "24 24 0 00 12 12 AM"},
		{"S SS SSSS", "789 789 0789", "7 07 0007"},
		{"X XX XXX zzzz G", "Z Z Z Coordinated Universal Time AD", "Z Z Z Coordinated Universal Time AD"},
		{"L LLL LLLL MM", "2 Feb February 02", "2 Feb February 02"},
		{"yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-02-07T12:34:56.789Z", "2026-02-07T00:00:00.007Z"},
		{"''yy'' 'o''clock'", "'26' o'clock", "'26' o'clock"},
		{"d-M_y", "7-2_2026", "7-2_2026"},
	} {
		p, err := parseDatePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := string(p.append(nil, noon())); got != c.noon {
			t.Errorf("%s gave %q, want %q", c.pattern, got, c.noon)
		}
		if got := string(p.append(nil, midnight)); got != c.midnight {
			t.Errorf("%s gave %q, want %q", c.pattern, got, c.midnight)
		}
	}
}

// The expected times are those of java.text.SimpleDateFormat.parse.
func TestDatePatternParse(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		wantMs        int64
	}{
		{"dd-MM-yyyy HH:mm:ss", "06-16-1956 12:00:00", -401976000000},
		{dateDefault, "Sat, 12 Feb 2022 21:01:21 GMT", 1644699681000},
		{dateDefault, "saturday, 12 february 2022 21:01:21 EST", 1644717681000},
		{"yyyyMMddHHmmss", "20220212210121", 1644699681000},
		{"d/M/yy", "1/2/49", -660009600000},
		{"d/M/yy", "1/2/20", 1580515200000},
		{"d/M/yy", "1/2/2020", 1580515200000},
		{"d/M/yyyy", "1/2/20", -61533388800000}, // Gregorian: Java counts Julian days before 1582
		{"hh:mm a", "12:05 AM", 300000},
		{"hh:mm a", "12:05 pm", 43500000},
		{"KK:mm a", "00:05 pm", 43500000},
		{"kk:mm", "24:05", 300000},
		{"yyyy D", "2020 60", 1582934400000},
		{"yyyy-MM-dd'T'HH:mm:ssXXX", "2020-01-02T03:04:05+02:00", 1577927045000},
		{"yyyy-MM-dd'T'HH:mm:ssX", "2020-01-02T03:04:05Z", 1577934245000},
		{"yyyy-MM-dd HH:mm:ss Z", "2020-01-02 03:04:05 -0730", 1577961245000},
		{"yyyy-MM-dd HH:mm:ss z", "2020-01-02 03:04:05 GMT+01:00", 1577930645000},
		{"s.SSS", "1.5", 1005},
		{"MMM d", "May 5", 10713600000},
		{"yyyyMM", "2020123", 1898553600000},
		{"yyMMdd", "200102", 1577923200000},
		{"yyyy-MM-dd HH", "2020-01-02   03", 1577934000000},
		{"G yyyy", "AD 2020", 1577836800000},
	} {
		p, err := parseDatePattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		got, err := p.parse(c.text, noon())
		if err != nil || got.UnixMilli() != c.wantMs {
			t.Errorf("%s of %s gave %d, %v, want %d", c.pattern, c.text, got.UnixMilli(), err, c.wantMs)
		}
	}
}

func TestZoneNames(t *testing.T) {
	p, err := parseDatePattern("H z")
	if err != nil {
		t.Fatal(err)
	}
	for zone, hours := range map[string]int{
		"Z": 0, "UTC": 0, "GMT": 0, "UT": 0,
		"EST": 5, "EDT": 4, "CST": 6, "CDT": 5, "MST": 7, "MDT": 6, "PST": 8, "PDT": 7,
		"+0100": -1, "-03": 3, "UTC-2": 2,
	} {
		got, err := p.parse("10 "+zone, noon())
		if err != nil || got.Hour() != 10+hours {
			t.Errorf("%s: %v, %v", zone, got, err)
		}
	}
}

func TestDatesRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{{date("yyyy-MM-ddTHH")}}`:                             "unknown letter T",
		`{{date("ww")}}`:                                        "unknown letter w",
		`{{date("yyyy 'open")}}`:                                "not closed",
		`{{date("XXXX")}}`:                                      "too often",
		`{{date("yyyyyyyyyy")}}`:                                "too often",
		`{{toTimestamp("12-02-2022", "dd/MM/yyyy")}}`:           `character 3: expected "/"`,
		`{{toTimestamp("12-02-2022 x", "dd-MM-yyyy")}}`:         `" x" is left`,
		`{{toTimestamp("x", "dd-MM-yyyy")}}`:                    "expected a number",
		`{{toTimestamp("202011", "yyyyMMdd")}}`:                 "expected a number",
		`{{toTimestamp("2020111", "yyyyMMddHH")}}`:              "expected 2 digits",
		`{{toTimestamp("1234567890", "ss")}}`:                   "more than 9 digits",
		`{{toTimestamp("0000", "yyyy")}}`:                       "choose a year from 1 to 9999",
		`{{toTimestamp("10000", "y")}}`:                         "choose a year from 1 to 9999",
		`{{toTimestamp("Foo 2020", "MMM yyyy")}}`:               "expected one of January",
		`{{toTimestamp("1 CEST", "H z")}}`:                      "expected a time zone",
		`{{toTimestamp("1 +25", "H Z")}}`:                       "within 23:59",
		`{{toTimestamp("now")}}`:                                "expected one of Sunday",
		`{{timestamp("01-01-2020 00:00:00")}}`:                  "does not take 1 argument",
		`{{timestamp("2020","2021")}}`:                          `expected "-"`,
		`{{date("02-01-2020 00:00:00","01-01-2020 00:00:00")}}`: "before it begins",
		`{{addYears("01-01-2020 00:00:00", 8000)}}`:             "leaves the years",
		`{{addYears("01-01-2020 00:00:00", 9999999999)}}`:       "out of range",
		`{{addDays("01-01-2020", 1)}}`:                          "does not fit",
		`{{toTimestamp(concat("x"), "dd")}}`:                    "expected a number",
		`{{date(concat("T"))}}`:                                 "unknown letter T",
	} {
		expectError(t, text, want)
	}
}
