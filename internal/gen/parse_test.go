package gen

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no call", `{"a": 1}`, `{"a": 1}`},
		{"empty", ``, ``},
		{"white space in a call", "{{ concat\n( \"a\" ,\t'b' ) }}", "ab"},
		{"call beside calls", `{{concat("a")}}{{concat("b")}}`, "ab"},
		{"call in an object", `{"a":{"b":{{concat(1)}}}}`, `{"a":{"b":1}}`},
		{"escaped braces", `{{concat("\{", "test", "\}")}}`, "{test}"},
		{"plain braces in quotes", `{{concat("{{x}}", '}')}}`, "{{x}}}"},
		{"other escapes stay", `{{concat("a\"b\n\\", 'c\'d')}}`, `a\"b\n\\c'd`},
		{"quotes in the other quotes", `{{concat("it's", '"')}}`, `it's"`},
		{"numbers", `{{concat(0, -12, 7L, 1.5, .5, 2., 1e3, -1.5E-3f, 2d)}}`, "0-127L1.5.52.1e3-1.5E-3f2d"},
		{"not ASCII", `äö{{concat("ü", "𝄞")}}ß`, "äöü𝄞ß"},
		{"single braces", `}} { } {a}`, `}} { } {a}`},
	} {
		t.Run(c.name, func(t *testing.T) { expectText(t, c.text, c.want) })
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"place", "{\n \"ä\": {{nope()}}\n}", []string{"line 2, column 9", "unknown function nope"}},
		{"near name", `{{intger(1,2)}}`, []string{"did you mean integer?"}},
		{"case of a name", `{{UUID()}}`, []string{"did you mean uuid?"}},
		{"far name", `{{xxxxxxxxxxxx()}}`, []string{"the choice is: integer, long"}},
		{"name in a nested call", `{{concat("a",upper("b"))}}`, []string{"column 14", "unknown function upper"}},
		{"too few arguments", `{{integer(1)}}`, []string{"does not take 1 argument;", "{{integer(min,max)}}"}},
		{"too many arguments", `{{alpha(1,2,3)}}`, []string{"3 arguments", "{{alpha()}} or {{alpha(length)}}"}},
		{"no parentheses", `{{uuid}}`, []string{`expected "(" after uuid, found "}"`}},
		{"no name", `{{"a"}}`, []string{"expected a function name", `{{concat("{","{")}}`}},
		{"nothing", `{{`, []string{"found the end of the template"}},
		{"bare word", `{{bool(true)}}`, []string{`expected "(" after true`, "quotes"}},
		{"open call", `{{uuid()`, []string{`expected "}}" after uuid(...), found the end`}},
		{"half closed", `{{uuid()} }`, []string{`expected "}}"`}},
		{"rest in a call", `{{uuid() x}}`, []string{`expected "}}" after uuid(...), found "x"`}},
		{"open quotes", `{{concat("a)}}`, []string{"column 10", "not closed"}},
		{"line break in quotes", "{{concat(\"a\nb\")}}", []string{"not closed on its line"}},
		{"open arguments", `{{concat("a"`, []string{`expected "," or ")"`}},
		{"comma at the end", `{{concat("a",)}}`, []string{`expected an argument, found ")"`}},
		{"two numbers", `{{integer(1 2)}}`, []string{`expected "," or ")"`}},
		{"bad number", `{{integer(1.2.3,2)}}`, []string{"is not a number"}},
		{"minus alone", `{{integer(-,2)}}`, []string{"is not a number"}},
		{"number with letters", `{{integer(12abc,2)}}`, []string{"is not a number"}},
		{"deep calls", "{{" + strings.Repeat("concat(", 100), []string{"nested more than 64 deep"}},
		{"long template", strings.Repeat("a", templateBytesMax+1), []string{"longer than 1048576 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) { expectError(t, c.text, c.want...) })
	}
}

func TestRepeat(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"object", `['{{repeat(2)}}', {"a": 1}]`, `[ {"a": 1}, {"a": 1}]`},
		{"none", `['{{repeat(0)}}', {"a": 1}]`, `[]`},
		{"none of several", `['{{repeat(0)}}', {"a": 1}, 5]`, `[ 5]`},
		{"more elements", `['{{repeat(2)}}', {"a": 1}, 5]`, `[ {"a": 1}, {"a": 1}, 5]`},
		{"values", `['{{repeat(2)}}', "a", "b" ]`, `[ "a", "b", "a", "b" ]`},
		{"call", `['{{repeat(2)}}', {{concat(7)}} ]`, `[ 7, 7 ]`},
		{"call in quotes", `['{{repeat(2)}}', "x{{concat("]")}}y"]`, `[ "x]y", "x]y"]`},
		{"array", `['{{repeat(2)}}', [1, {"a": "]"}]]`, `[ [1, {"a": "]"}], [1, {"a": "]"}]]`},
		{"nested", `['{{repeat(2)}}', {"b": ['{{repeat(2)}}', {"c": 1}]}]`,
			`[ {"b": [ {"c": 1}, {"c": 1}]}, {"b": [ {"c": 1}, {"c": 1}]}]`},
		{"escapes in the body", `['{{repeat(2)}}', {"a\"}": '\']'}]`, `[ {"a\"}": '\']'}, {"a\"}": '\']'}]`},
		{"nested count", `['{{ repeat(substring("a2",1)) }}' , {}]`, `[ {}, {}]`},
		{"two arrays", `{"a": ['{{repeat(2)}}', 1], "b": ['{{repeat(2)}}', 2]}`, `{"a": [ 1, 1], "b": [ 2, 2]}`},
	} {
		t.Run(c.name, func(t *testing.T) { expectText(t, c.text, c.want) })
	}
	made := expectMatch(t, `['{{repeat(1,3)}}', {}]`, `\[ \{\}(, \{\}){0,2}\]`)
	if distinct(made) != 3 {
		t.Errorf("%d different counts, want 3", distinct(made))
	}
}

func TestRepeatErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"double quotes", `["{{repeat(2)}}", {}]`, "outside of single quotes"},
		{"no quotes", `[{{repeat(2)}}, {}]`, "outside of single quotes"},
		{"quote not closed", `['{{repeat(2)}}, {}]`, "outside of single quotes"},
		{"at the start", `{{repeat(2)}}`, "outside of single quotes"},
		{"not first", `[1, '{{repeat(2)}}', {}]`, "not the first element"},
		{"no comma", `['{{repeat(2)}}' {}]`, "expected a comma"},
		{"nothing to repeat", `['{{repeat(2)}}', ]`, "no element to repeat"},
		{"open array", `['{{repeat(2)}}', {}`, "not closed"},
		{"open string", `['{{repeat(2)}}', "a]`, "not closed"},
		{"XML", `<a>['{{repeat(2)}}', <b>1</b>]</a>`, "XML"},
		{"as argument", `{{concat(repeat(2))}}`, "repeat cannot be an argument"},
		{"no count", `['{{repeat()}}', {}]`, "does not take 0 arguments"},
		{"negative", `['{{repeat(-1)}}', {}]`, "out of range for a repeat count"},
		{"reversed", `['{{repeat(3,2)}}', {}]`, "ends at 2, before it begins at 3"},
		{"fault in the body", `['{{repeat(2)}}', {{nope()}}]`, "unknown function nope"},
		{"syntax in the body", `['{{repeat(2)}}', {{uuid(}}]`, "expected an argument"},
		{"deep", strings.Repeat(`['{{repeat(1)}}', `, 100) + "1" + strings.Repeat("]", 100), "nested more than 64"},
	} {
		t.Run(c.name, func(t *testing.T) { expectError(t, c.text, c.want) })
	}
}
