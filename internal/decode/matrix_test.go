package decode

import (
	"fmt"
	"strings"
	"testing"

	"firn/internal/record"
)

// scalarTexts are JSON values, good and bad, that some column takes or nearly takes.
func scalarTexts() []string {
	texts := []string{
		"null", "true", "false", "tru", "nul", "{}", "[]", "[[]]", `{"id":1}`, `{"a":null}`, "[null]", "[1,2]", `["a"]`,
		`[{}]`, `{"1":null}`,
		"0", "-0", "-", "00", "-01", "1.", ".1", "1e", "1e+", "1E5", "1.0", "-1.50", "1e-2", "123456789", "-2147483648",
		"2147483648",
		"-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615",
		"18446744073709551616", "99999999999999999999999999999999999999", "100000000000000000000000000000000000000",
		"86399999999",
		"9999999.99", "9999999.990", "9999999.999", "10000000", "0.0000000001", "0.00000000001",
		"9999999999999999999999999999.9999999999",
		"16777217", "16777216.5", "9007199254740993", "1e22", "1e23", "3.4028235e38", "3.4028236e38",
		"1.7976931348623157e308", "1.8e308",
		"5e-324", "1e-400", "1.17549435e-38", "0.1", "0.3", "123456.789e3", "0.000000000000000000000000000001", "1" +
			strings.Repeat("0", 40) + "e-40",
		"8.5e-7", "4503599627370497.5", "0.00000000000000000001234567890123456789", "1234567890123456789012", "-0.0", "-0e5",
		"0e99999999999",
	}
	for _, s := range []string{
		"", " ", "a", "true", "1", "-0", "+1", " 1", "1 ", "0x1", "1_000", "NaN", "Inf", "1.5", "12.345", "1e2", "2024-02-29",
		"2023-02-29",
		"1900-02-29", "2000-02-29", "0000-02-29", "0000-01-01", "9999-12-31", "2024-00-10", "2024-13-10", "2024-04-31",
		"2024-1-1", "24-01-01",
		"-024-01-01", "2024-02-29T", "12:34:56", "12:34:56.", "12:34:56.1", "12:34:56.123456", "12:34:56.1234567",
		"12:34:56.12345600",
		"24:00:00", "23:60:00", "23:59:60", "1:02:03", "12:34", "2024-02-29T12:34:56", "2024-02-29 12:34:56.5",
		"2024-02-29t12:34:56.123456789",
		"2024-02-29T12:34:56.1234567891", "2024-02-29T12:34:56.1234567890", "2024-02-29T12:34:56Z", "2024-02-29T12:34:56z",
		"2024-02-29T12:34:56.5+05:30",
		"2024-02-29T12:34:56-23:59", "2024-02-29T12:34:56+24:00", "2024-02-29T12:34:56+05:60", "2024-02-29T12:34:56+0530",
		"2024-02-29T12:34:56+05",
		"2024-02-29T12:34:56.Z", "2024-02-29T12:34:56ZZ", "2024-02-29T12:34Z", "2024-02-29_12:34:56Z",
		"0000-01-01T00:00:00+23:59",
		"9999-12-31T23:59:59.999999-23:59", "1677-09-21T00:12:43.145224192", "1677-09-21T00:12:43.145224191Z",
		"1677-09-21T00:12:43.145224192Z",
		"2262-04-11T23:47:16.854775807", "2262-04-11T23:47:16.854775808Z", "2262-04-11T23:47:17Z", "1677-09-21T00:12:42Z",
		"1969-12-31T23:59:59.999999999Z",
		"f79c3e09-677c-4bbd-a479-3f349cb785e7", "F79C3E09-677C-4BBD-A479-3F349CB785E7",
		"{79c3e09-677c-4bbd-a479-3f349cb785e}",
		"f79c3e09-677c-4bbd-a4793-f349cb785e7", "f79c3e09-677c-4bbd-a479-3f349cb785eg",
		"urn:uuid:f79c3e09-677c-4bbd-a479-3f349cb785e7",
		"AQID", "AQI=", "AQ==", "AQI", "AR==", "A", "====", "AQ_-", `AQID\n`, `AQ\r\nID`, `\u0041QID`, `\u0031`,
		`\ud83d\ude00`, `\ud83d`, `\ude00`,
		`\ud83d\u0041`, "ä日😀", `\"\\\/\b\f\n\r\t\u0000`, `\x`, `\u12g4`, "\x80", "\xed\xa0\x80", "\n", "\x7f",
	} {
		texts = append(texts, `"`+s+`"`)
	}
	return texts
}

// C59: every kind of value meets every kind of column, alone, in lists, as map values and as map keys.
func TestJSONMatrixOfValuesAndColumns(t *testing.T) {
	s := everyKind()
	for i := range everyKind().Fields {
		f := s.Fields[i]
		if len(f.Type.Fields) == 0 {
			s.Fields = append(s.Fields, listOf("list_"+f.Name, f), mapOf("map_"+f.Name, of("", record.KindString), f),
				mapOf("key_"+f.Name, f, of("", record.KindInt)), structOf("in_"+f.Name, f))
		}
	}
	for _, accept := range []bool{false, true} {
		d := newJSON(t, s, func(o *JSONOptions) { o.AcceptNumbersInStrings = accept })
		batch, taken, refused := record.NewBatch(s), 0, 0
		for _, f := range s.Fields {
			for _, text := range scalarTexts() {
				in := matrixMessage(f.Name, text)
				want, why := modelRow([]byte(in), s, d.options)
				got := decodeOne(t, d, batch, in)
				switch {
				case why == "":
					taken++
				case strings.HasPrefix(got, "!"):
					refused++
					continue
				}
				if why != "" || got != want {
					t.Errorf("%s: got %s, the model has %s %s", in, got, want, why)
				}
			}
		}
		if taken < 1000 || refused < 1000 {
			t.Errorf("%d taken, %d refused", taken, refused)
		}
	}
}

func matrixMessage(column, text string) string {
	kind, inner, _ := strings.Cut(column, "_")
	switch kind {
	case "list":
		return fmt.Sprintf(`{%q:[null,%s]}`, column, text)
	case "map":
		return fmt.Sprintf(`{%q:{"k":%s}}`, column, text)
	case "key":
		return fmt.Sprintf(`{%q:{%s:1}}`, column, text)
	case "in":
		return fmt.Sprintf(`{%q:{%q:%s}}`, column, inner, text)
	default:
		return fmt.Sprintf(`{%q:%s}`, column, text)
	}
}
