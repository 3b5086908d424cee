package gen

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The messages of a seed must not change by accident: benchmarks are repeated with them.
func TestGolden(t *testing.T) {
	everything, err := os.ReadFile(filepath.Join("testdata", "everything.template"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"everything": string(everything)}
	for _, name := range BuiltinNames() {
		texts[name], _ = Builtin(name)
	}
	for name, text := range texts {
		got := strings.Join(messages(t, text, 3), "\n") + "\n"
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestBuiltinsAreJSON(t *testing.T) {
	for _, name := range BuiltinNames() {
		text, _ := Builtin(name)
		if err := compile(t, text).CheckJSON(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, m := range messages(t, text, 200) {
			if !json.Valid([]byte(m)) {
				t.Fatalf("%s made %s", name, m)
			}
		}
	}
	if _, ok := Builtin("nope"); ok {
		t.Error("there is a template nope")
	}
}

func TestReferenceMessage(t *testing.T) {
	for _, m := range expectMatch(t, ReferenceTemplate,
		`\{"logStreamId": "1[0-9]{6}", "message": "[a-zA-Z0-9]{962}"\}`) {
		if len(m) != 1003 {
			t.Fatalf("the message has %d bytes, want 1003", len(m))
		}
	}
}

func TestCheckJSON(t *testing.T) {
	err := compile(t, `{"a": {{uuid()}}}`).CheckJSON()
	if err == nil || !strings.Contains(err.Error(), "does not make JSON") {
		t.Errorf("CheckJSON: %v", err)
	}
	compiled := compile(t, `{"a": {{index()}}}`)
	if err := compiled.CheckJSON(); err != nil {
		t.Error(err)
	}
	if got := string(compiled.Append(nil, compiled.NewState(0))); got != `{"a": 0}` {
		t.Errorf("CheckJSON moved the index: %s", got)
	}
}

func TestSeeds(t *testing.T) {
	one := func(seed uint64, worker int) string {
		compiled, err := Compile(`{{uuid()}}`, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return string(compiled.Append(nil, compiled.NewState(worker)))
	}
	if same := []string{one(1, 0), one(1, 0)}; distinct(same) != 1 {
		t.Errorf("the same seed gave %q", same)
	}
	different := []string{one(1, 0), one(1, 1), one(1, 2), one(2, 0), one(2, 1), one(0, 0), one(0, 0)}
	if n := distinct(different); n != len(different) {
		t.Errorf("%d different messages, want %d", n, len(different))
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	compiled := compile(t, `{{alpha(3)}}`)
	got := compiled.Append([]byte("kept:"), compiled.NewState(0))
	if len(got) != 8 || string(got[:5]) != "kept:" {
		t.Errorf("made %q", got)
	}
}

func TestErrorHasPlace(t *testing.T) {
	_, err := Compile("a\n{{integer(2,1)}}", Options{})
	var wrong *Error
	if !errors.As(err, &wrong) || wrong.Line != 2 || wrong.Column != 3 || wrong.What == "" || wrong.Do == "" {
		t.Errorf("error is %#v", err)
	}
}

// No template may fill the memory or run for ever.
func TestMessageSizeIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"letters":      `{{alpha(16000000)}}{{alpha(16000000)}}`,
		"arguments":    `{{concat(alpha(9000000),alpha(9000000))}}`,
		"repeat":       `['{{repeat(100000)}}', "{{alpha(1000)}}"]`,
		"nested":       `['{{repeat(1000)}}', ['{{repeat(1000)}}', ['{{repeat(1000)}}', {}]]]`,
		"empty bodies": `['{{repeat(1000000)}}', {{concat("")}}['{{repeat(1000000)}}', {{concat("")}}]]`,
		"lorem":        `{{lorem(1000000,"paragraphs")}}`,
		"hex":          `{{hex(9000000)}}`,
		"get":          `{{put("a",alpha(9000000))}}{{get("a")}}`,
		"literal":      `['{{repeat(100)}}', "` + strings.Repeat("x", 200_000) + `"]`,
	} {
		_, err := Compile(text, Options{Seed: 1})
		if err == nil || !strings.Contains(err.Error(), "16 MiB") && !strings.Contains(err.Error(), "steps") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	expectError(t, `{"a": ['{{repeat(200)}}', "`+strings.Repeat("x", 200_000)+`"]}`, "line 1, column 26:", "16 MiB")
	if n := len(messages(t, `{{alpha(16777216)}}`, 1)[0]); n != MessageBytesMax {
		t.Errorf("the largest message has %d bytes", n)
	}
}

func TestNoAllocation(t *testing.T) {
	gameEvent, _ := Builtin("GAME_EVENT")
	logEntry, _ := Builtin("LOG_ENTRY")
	for _, text := range []string{
		ReferenceTemplate, gameEvent, logEntry,
		`{{index()}} {{index("a")}}{{resetIndex("a")}} {{long(1,9)}} {{float(0,1)}} {{double(0,1,"%,.3f")}} {{hex()}}`,
		`{{put("a", toUpperCase(alpha(5)))}} {{get("a")}} {{email()}} {{phone()}} {{ssn()}} {{regexify("[a-z]{5}")}}`,
		`{{date()}} {{date("01-01-2020 00:00:00","01-01-2021 00:00:00","yyyy-MM-dd")}} {{time("HH:mm")}}`,
		`{{lorem(5,"words")}} {{lorem(2,"paragraphs")}}`,
		`['{{repeat(1,5)}}', {"a": "{{random(uuid(), "b")}}"}]`,
	} {
		compiled := compile(t, text)
		s := compiled.NewState(0)
		dst := make([]byte, 0, 4096)
		for range 10 { // the buffers grow
			dst = compiled.Append(dst[:0], s)
		}
		if n := testing.AllocsPerRun(100, func() { dst = compiled.Append(dst[:0], s) }); n != 0 {
			t.Errorf("%s allocates %v times a message", text, n)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, name := range BuiltinNames() {
		text, _ := Builtin(name)
		f.Add(text)
	}
	for _, text := range []string{
		`['{{repeat(1,3)}}', {"a": '{{index("x",5)}}', "b": "{{put("k", alpha(3))}}{{get("k")}}"}]`,
		`{{date("01-01-2020 00:00:00","01-01-2021 00:00:00","dd-MM-yyyy HH:mm:ss","EEE 'at' hh:mm a")}}`,
		`{{regexify("(a|b){2,5}[^c]+")}} {{double(1,2,"%,08.2f")}} {{substring(concat("ä","b"),1)}}`,
		`{{addMonths("yyyy-MM", "2020-01", -5)}} {{time("6PM","7:30 PM","HH")}} {{countriesList("DE","FR")}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		compiled, err := Compile(text, Options{Seed: 1, Now: noon})
		if err != nil {
			if wrong := (*Error)(nil); !errors.As(err, &wrong) || wrong.Line < 1 || wrong.Column < 1 {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		s := compiled.NewState(1)
		for range 2 {
			m := compiled.Append(nil, s)
			if len(m) > MessageBytesMax || s.Err() != nil && len(m) > 0 {
				t.Fatalf("made %d bytes, error %v", len(m), s.Err())
			}
		}
	})
}
