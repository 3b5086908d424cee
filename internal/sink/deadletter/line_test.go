package deadletter

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

func TestLineText(t *testing.T) {
	l := Letter{Rejected: rejected(17, `{"a":"<>&"}`), Job: "j", Time: time.UnixMilli(1_700_000_001_000)}
	got, err := appendLine(nil, l)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2023-11-14T22:13:21Z","job":"j","topic":"orders","partition":3,"offset":17,` +
		`"timestamp_ms":1700000000123,"reason":"not a number","field":"price","key":"k",` +
		`"value":"{\"a\":\"<>&\"}","headers":[{"key":"h","value":"1"},{"key":"empty","value":""},` +
		`{"key":"null","value":null}]}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(string(got), linePrefix) {
		t.Errorf("a line does not begin with %s", linePrefix)
	}
}

func TestLineRoundTrip(t *testing.T) {
	f := func(name string, change func(*Letter)) {
		t.Run(name, func(t *testing.T) {
			want := Letter{Rejected: rejected(1, "v"), Job: "j", Time: time.UnixMilli(1_700_000_001_000).UTC()}
			change(&want)
			text, err := appendLine(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Count(text, []byte("\n")) != 1 || text[len(text)-1] != '\n' {
				t.Errorf("not one line: %q", text)
			}
			got, err := ParseLine(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	f("plain", func(*Letter) {})
	f("tombstone", func(l *Letter) { l.Record.Value = nil }) // C69
	f("empty value", func(l *Letter) { l.Record.Value = []byte{} })
	f("no key, no headers, no field", func(l *Letter) { l.Record.Key, l.Record.Headers, l.Field = nil, nil, "" })
	f("bytes", func(l *Letter) { l.Record.Key, l.Record.Value = []byte{0xff, 0}, []byte("\x80\n{") })
	f("half a character", func(l *Letter) { l.Record.Value = []byte("\xe2\x82") })
	f("line breaks", func(l *Letter) { l.Record.Value = []byte("a\r\nb\u2028c\x00") })
	f("replacement character", func(l *Letter) { l.Record.Value = []byte("\ufffd") })
	f("text that looks like base64", func(l *Letter) { l.Record.Value = []byte("AAAA") })
	f("headers of bytes", func(l *Letter) { l.Record.Headers = []record.Header{{Key: "\xff", Value: []byte("\xfe")}} })
	f("a time far away", func(l *Letter) { l.Record.Timestamp = time.UnixMilli(1 << 60) })
	f("a time before time", func(l *Letter) { l.Record.Timestamp = time.UnixMilli(-1) })
	f("header without a name", func(l *Letter) { l.Record.Headers = []record.Header{{Key: "", Value: nil}} })
}

func TestParseLineRefuses(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := ParseLine([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gave %v, want %q", text, err, want)
		}
	}
	f(``, "EOF")
	f(`{"time":"2023`, "unexpected EOF")
	f(`{"key":"!","key_encoding":"base64"}`, "key")
	f(`{"value":"x","value_encoding":"rot13"}`, `unknown encoding "rot13"`)
	f(`{"headers":[{"key":"!","key_encoding":"base64"}]}`, "header key")
	f(`{"headers":[{"key":"a","value":"!","value_encoding":"base64"}]}`, `header "a"`)
	f(`{"other":1}`, "unknown field")
	f(`{} {}`, "more than one")
}

func FuzzParseLine(f *testing.F) {
	text, _ := appendLine(nil, Letter{Rejected: rejected(1, "v\xff"), Job: "j"})
	f.Add(text)
	f.Add([]byte(`{"key":null,"headers":[{"key":"YQ==","key_encoding":"base64","value":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := ParseLine(text)
		if err != nil {
			return
		}
		again, err := appendLine(nil, first)
		if err != nil {
			return // a year that JSON does not have cannot come from JSON; a zone offset may make one
		}
		second, err := ParseLine(again)
		if err != nil {
			t.Fatalf("%q was read and written as %q, which gives %v", text, again, err)
		}
		first.Time = first.Time.UTC()
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatal(diff)
		}
	})
}
