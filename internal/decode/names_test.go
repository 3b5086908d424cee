package decode

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"firn/internal/record"
)

// oddNames are names of columns that JSON must or may escape, and some of every length around the words in which keys
// are compared.
func oddNames() []string {
	names := []string{
		"", `"`, `\`, `a"b\c`, "\x00", "\n", "\t\r\b\f", "/", "\u007f", "\u2028", "größe", "日本語", "😀", "a.b", "a b", ":",
		`":`, "<>&", "abc", "abcd", "Abc", strings.Repeat("x", 200) + "y", strings.Repeat("x", 200) + "z",
	}
	for n := 3; n <= 36; n++ {
		name := strings.Repeat("k", n)
		names = append(names, name, name[:n-1]+"!", "!"+name[1:], name[:n/2]+"!"+name[n/2+1:])
	}
	return names
}

func oddSchema() *record.Schema {
	s := &record.Schema{}
	for _, name := range oddNames() {
		s.Fields = append(s.Fields, of(name, record.KindInt))
	}
	return s
}

// spellings are ways to write a name as a JSON key.
func spellings(name string) []string {
	usual := quoteKey(name)
	var all, upper strings.Builder
	for _, r := range name {
		for _, u := range utf16Of(r) {
			fmt.Fprintf(&all, `\u%04x`, u)
			fmt.Fprintf(&upper, `\u%04X`, u)
		}
	}
	return []string{
		usual, `"` + all.String() + `"`, `"` + upper.String() + `"`, strings.ReplaceAll(usual, "/", `\/`),
		strings.NewReplacer(`\u000a`, `\n`, `\u0009`, `\t`, `\u000d`, `\r`, `\u0008`, `\b`, `\u000c`, `\f`).Replace(usual),
	}
}

func utf16Of(r rune) []rune {
	if r < 0x10000 {
		return []rune{r}
	}
	r -= 0x10000
	return []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff}
}

func TestJSONFindsColumnsByAnySpellingOfTheirNames(t *testing.T) {
	s := oddSchema()
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	for i, f := range s.Fields {
		for _, key := range spellings(f.Name) {
			for _, form := range []string{
				"{%s:%d}", "{%s :%d,\"unknown\":[]}", "{\"unknown\":1 , %s\n:\t%d }", "{%s: %d}",
			} {
				in := fmt.Sprintf(form, key, i+1)
				if got, want := decodeOne(t, d, batch, in), f.Name+"="+strconv.Itoa(i+1); got != want {
					t.Errorf("%s: got %q, want %q", in, got, want)
				}
			}
		}
	}
}

// Each order of keys meets a decoder that expects another one.
func TestJSONReadsKeysInAnyOrder(t *testing.T) {
	s := oddSchema()
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	var want []string
	for i, f := range s.Fields {
		want = append(want, f.Name+"="+strconv.Itoa(i))
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds(100) {
		var members []string
		for _, i := range r.Perm(len(s.Fields)) {
			keys := spellings(s.Fields[i].Name)
			members = append(members, keys[r.IntN(len(keys))]+[]string{":", ": ", " : "}[r.IntN(3)]+strconv.Itoa(i))
			if r.IntN(10) == 0 {
				members = append(members, fmt.Sprintf(`"new %d":{"a":[1]}`, r.IntN(1000)))
			}
		}
		in := "{" + strings.Join(members, []string{",", ", ", "\n,\n"}[r.IntN(3)]) + "}"
		if got := decodeOne(t, d, batch, in); got != strings.Join(want, " ") {
			t.Fatalf("%s\ngot %s", in, got)
		}
	}
}

// A key that differs in one byte, in case or in length is another key.
func TestJSONTakesNoOtherKeyForAColumn(t *testing.T) {
	for _, name := range oddNames() {
		s := &record.Schema{Fields: []record.Field{of(name, record.KindInt)}}
		d, batch := newJSON(t, s, nil), record.NewBatch(s)
		others := []string{name + "x", "x" + name, name + " ", strings.ToUpper(name) + "U"}
		for i := range len(name) {
			if name[i] < 0x80 && name[i] > 'B' {
				others = append(others, name[:i]+string(rune(name[i]-1))+name[i+1:], name[:i]+name[i+1:])
			}
		}
		for _, other := range others {
			for _, in := range []string{`{%s:1}`, `{%s:1,"and some text behind it":null}`} {
				in = fmt.Sprintf(in, quoteKey(other))
				if got := decodeOne(t, d, batch, in); got != "" {
					t.Errorf("column %q took %s: %s", name, in, got)
				}
			}
		}
	}
}
