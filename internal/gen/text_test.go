package gen

import (
	"slices"
	"testing"
)

func TestLetters(t *testing.T) {
	expectLengths(t, expectMatch(t, `{{alpha()}}`, `[a-zA-Z]+`), 10, 19)
	expectLengths(t, expectMatch(t, `{{alphaNumeric()}}`, `[a-zA-Z0-9]+`), 10, 19)
	expectLengths(t, expectMatch(t, `{{alpha(3,6)}}`, `[a-zA-Z]+`), 3, 5)
	expectLengths(t, expectMatch(t, `{{alphaNumeric(0,9)}}`, `[a-zA-Z0-9]*`), 0, 8)
	expectLengths(t, expectMatch(t, `{{alphaNumeric(50)}}`, `[a-zA-Z0-9]+`), 50, 50)
	expectLengths(t, expectMatch(t, `{{alpha(integer(3,5))}}`, `[a-zA-Z]+`), 3, 4)
	expectText(t, `<{{alpha(0)}}>`, "<>")
	expectError(t, `{{alpha(5,5)}}`, "no length to choose")
	expectError(t, `{{alphaNumeric(-1)}}`, "out of range for a length")
	expectError(t, `{{alphaNumeric(16777217)}}`, "out of range for a length", "16777216")
}

// expectLengths checks that all lengths lie in the range and that both ends occur.
func expectLengths(t *testing.T, made []string, low, high int) {
	t.Helper()
	lengths := make([]int, len(made))
	for i, m := range made {
		lengths[i] = len(m)
	}
	if got, most := slices.Min(lengths), slices.Max(lengths); got != low || most != high {
		t.Errorf("lengths are %d to %d, want %d to %d", got, most, low, high)
	}
}

func TestHex(t *testing.T) {
	expectMatch(t, `{{hex()}}`, `[0-9a-f]{32}`)
	expectMatch(t, `{{hex(5)}}`, `[0-9a-f]{10}`)
	expectMatch(t, `{{hex(9)}}`, `[0-9a-f]{18}`)
	expectText(t, `{{hex(0)}}`, "")
	if made := expectMatch(t, `{{objectId()}}`, `[0-9a-f]{24}`); distinct(made) != len(made) {
		t.Error("object ids repeat")
	}
}

func TestUUID(t *testing.T) {
	const dashed = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	for _, text := range []string{`{{uuid()}}`, `{{guid()}}`, `{{uuid("true")}}`} {
		if made := expectMatch(t, text, dashed); distinct(made) != len(made) {
			t.Error("uuids repeat")
		}
	}
	expectMatch(t, `{{uuid("false")}}`, `[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}`)
	expectError(t, `{{uuid("no")}}`, "neither true nor false")
}

func TestRandom(t *testing.T) {
	made := expectMatch(t, `{{random("red", 'green', 3, concat("b","lue"))}}`, `red|green|3|blue`)
	if distinct(made) != 4 {
		t.Errorf("%d different choices, want 4", distinct(made))
	}
	expectShare(t, `{{random("a","b","c","d")}}`, "b", 0.25)
	expectText(t, `{{random("only")}}`, "only")
	expectError(t, `{{random()}}`, "does not take 0 arguments", "{{random(a,b,...)}}")
}

// All arguments of random run: both counters move with each message.
func TestRandomRunsAllArguments(t *testing.T) {
	made := messages(t, `{{random(index("a"),index("b"))}}`, 50)
	if made[49] != "49" {
		t.Errorf("message 49 has index %s", made[49])
	}
}

func TestConcatAndCase(t *testing.T) {
	expectText(t, `{{concat("A","B",1.50,-2)}}`, "AB1.50-2")
	expectText(t, `{{concat("$",float(1,1,"%.2f"))}}`, "$1.00")
	expectText(t, `{{toLowerCase("MiXed 1")}}`, "mixed 1")
	expectText(t, `{{toUpperCase(concat("gr", "ü", "n"))}}`, "GRÜN")
	expectText(t, `{{toLowerCase("ÄÖ")}}`, "äö")
	expectMatch(t, `{{toUpperCase(substring(gender(),0,1))}}`, `F|M`)
}

func TestSubstring(t *testing.T) {
	expectText(t, `{{substring("word",3)}}`, "d")
	expectText(t, `{{substring("word",0)}}`, "word")
	expectText(t, `{{substring("word",4)}}`, "")
	expectText(t, `{{substring("long word", 1, 6)}}`, "ong w")
	expectText(t, `{{substring("äöü", 1, 2)}}`, "ö")
	expectText(t, `{{substring("𝄞x", 2)}}`, "x") // one character, two UTF-16 units
	expectError(t, `{{substring("word",5)}}`, "lies outside")
	expectError(t, `{{substring("word",3,2)}}`, "lies outside")
	expectError(t, `{{substring("word",0,5)}}`, "lies outside")
	expectError(t, `{{substring("𝄞x",1)}}`, "lies outside")
	expectError(t, `{{substring("word",-1)}}`, "out of range")
}
