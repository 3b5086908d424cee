package decode

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"firn/internal/record"
)

// malformed are the classes of ill-formed UTF-8 (Unicode 16, table 3-7), with what is well-formed right beside them.
func malformed() []string {
	texts := []string{
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xc2\xc0", "\xc2\x80", "\xdf\xbf", // two bytes
		"\xe0\x80\x80", "\xe0\x9f\xbf", "\xe0\xa0\x80", "\xe0\xa0",
		"\xe1\x80", "\xe1\x80\x7f", "\xe1\x7f\x80", "\xef\xbf\xbf",
		"\xed\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xee\x80\x80", "\xed\xa0\xbd\xed\xb8\x80", // surrogates
		"\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80\x80", "\xf0\x90\x80", "\xf1\x80\x80\x7f", "\xf4\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", "\xfe", "\xff",
		"\xc3\xa9\xa9", "\xe6\x97\xa5\xe6\x97", "\xf0\x9f\x98\x80\x80",
	}
	for c := 0x80; c <= 0xff; c++ {
		texts = append(texts, string([]byte{byte(c)}), string([]byte{byte(c), 0x80}), string([]byte{byte(c), 0xbf, 0x80}),
			string([]byte{byte(c), 0x80, 0x80, 0x80}), string([]byte{byte(c), 0x9f, 0x80, 0xbf}))
	}
	return texts
}

// Wherever a string may stand, in whatever part of a word or block, it is taken if and only if it is valid UTF-8.
func TestJSONTakesValidUTF8Only(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		of("s", record.KindString), mapOf("m", of("", record.KindString), of("", record.KindInt)),
		structOf("o", listOf("l", of("", record.KindString))),
	}}
	valid, invalid := 0, 0
	forEachWayToScan(t, func(t *testing.T) {
		d, batch := newJSON(t, s, nil), record.NewBatch(s)
		for _, text := range malformed() {
			for _, before := range []int{0, 1, 7, 31, 60, 63} {
				text := strings.Repeat("x", before) + text
				for _, in := range []string{
					`{"s":"%s"}`, `{"s":"\n%s and so on"}`, `{"%s":1}`, `{"x":["%s"]}`, `{"x":{"%s":1}}`, `{"m":{"%s":1}}`,
					`{"o":{"l":["%s"]}}`, `{"s":"größe","x":"%s\\"}`,
				} {
					got := decodeOne(t, d, batch, fmt.Sprintf(in, text))
					ok := utf8.ValidString(text)
					if ok != !strings.HasPrefix(got, "!") || !ok && !strings.HasSuffix(got, "invalid UTF-8 in a string") {
						t.Errorf("%s of %q: %s", in, text, got)
					}
					if ok {
						valid++
					} else {
						invalid++
					}
				}
			}
		}
	})
	if valid < 1000 || invalid < 1000 {
		t.Errorf("%d valid, %d invalid", valid, invalid)
	}
}

// Every \u escape, alone and before another one, becomes its character or is refused.
func TestJSONSurrogates(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{of("s", record.KindString)}}
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	edges := []rune{0, 0x41, 0xd7ff, 0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdfff, 0xe000, 0xfffd, 0xffff}
	high := func(r rune) bool { return r >= 0xd800 && r <= 0xdbff }
	low := func(r rune) bool { return r >= 0xdc00 && r <= 0xdfff }
	for _, a := range edges {
		for _, b := range edges {
			for _, format := range []string{`{"s":"\u%04x\u%04x"}`, `{"s":"\u%04X\u%04X"}`} {
				want := fmt.Sprintf("s=%q", string(a)+string(b))
				switch {
				case high(a) && low(b):
					want = fmt.Sprintf("s=%q", string((a-0xd800)<<10+b-0xdc00+0x10000))
				case high(a):
					want = "!field s at byte 6: lone high surrogate in a string"
				case low(a):
					want = "!field s at byte 6: lone low surrogate in a string"
				case high(b):
					want = "!field s at byte 12: lone high surrogate in a string"
				case low(b):
					want = "!field s at byte 12: lone low surrogate in a string"
				}
				if got := decodeOne(t, d, batch, fmt.Sprintf(format, a, b)); got != want {
					t.Errorf("\\u%04x\\u%04x: got %s, want %s", a, b, got, want)
				}
			}
		}
	}
	for _, text := range []string{`\ud83d`, `\ud83dx`, `\ud83d\n`, `\ud83d\`, `\ud83d\u`, `\ud83d\ude0`, `\ud83d\\ude00`} {
		if got := decodeOne(t, d, batch, `{"s":"`+text+`"}`); !strings.HasSuffix(got, "lone high surrogate in a string") {
			t.Errorf("%s: %s", text, got)
		}
	}
}
