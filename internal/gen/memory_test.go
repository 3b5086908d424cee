package gen

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndex(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"default", `{{index()}}`, []string{"0", "1", "2"}},
		{"start", `{{index(45)}}`, []string{"45", "46", "47"}},
		{"negative start", `{{index(-1)}}`, []string{"-1", "0", "1"}},
		{"name", `{{index("a")}} {{index("b")}}`, []string{"0 0", "1 1", "2 2"}},
		{"name and start", `{{index("a",7)}}`, []string{"7", "8", "9"}},
		{"the first start holds", `{{index("a",7)}} {{index("a",70)}}`, []string{"7 8", "9 10", "11 12"}},
		{"reset", `{{index("a",7)}} {{index("a")}}{{resetIndex("a")}}`, []string{"7 8", "7 8", "7 8"}},
		{"reset of the default", `{{index()}}{{index()}}{{resetIndex()}}`, []string{"01", "01", "01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, messages(t, c.text, 3)); diff != "" {
				t.Error(diff)
			}
		})
	}
	expectError(t, `{{resetIndex("a")}}`, `finds no index "a"`)
	expectError(t, `{{index(concat("a"))}}`, "must not be a call")
	expectError(t, `{{index("a","b")}}`, `"b" is not a whole number`)
}

func TestIndexNestedInRepeat(t *testing.T) {
	expectText(t, `['{{repeat(2)}}', {"o": ['{{repeat(3)}}', {{index("i")}}]{{resetIndex("i")}}}]`,
		`[ {"o": [ 0, 1, 2]}, {"o": [ 0, 1, 2]}]`)
}

// An index is a sequence without gaps or duplicates over all workers; one that is set back is the worker's own.
func TestIndexOverWorkers(t *testing.T) {
	const workers, each = 8, 200
	compiled := compile(t, `{{index("shared")}}`)
	numbers := make([][]int, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			s := compiled.NewState(i)
			for range each {
				n, err := strconv.Atoi(string(compiled.Append(nil, s)))
				if err != nil {
					t.Error(err)
				}
				numbers[i] = append(numbers[i], n)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(numbers...)
	slices.Sort(all)
	for i, n := range all {
		if n != i {
			t.Fatalf("number %d of the sequence is %d", i, n)
		}
	}
}

func TestPutGet(t *testing.T) {
	for _, m := range messages(t, `{{put("u", uuid())}}={{get("u")}}={{get("u")}}`, 10) {
		if len(m) != 3*36+2 || m[:36] != m[37:73] || m[:36] != m[74:] {
			t.Errorf("made %s", m)
		}
	}
	expectText(t, `{{put("a", put("b", "x"))}}{{get("a")}}{{get("b")}}`, "xxx")
	expectText(t, `{{put("day", "03-11-2018 09:27:56")}} {{addDays(get("day"), 12)}}`,
		"03-11-2018 09:27:56 15-11-2018 09:27:56")
	expectError(t, `{{get("nam")}}`, `has the key "nam"`, "write a put")
	expectError(t, `{{put("name","x")}}{{get("nam")}}`, "did you mean name?")
	expectError(t, `{{get("name")}}{{put("name","x")}}`, `has the key "name"`)
	expectError(t, `{{put(uuid(),"x")}}`, "must not be a call")
}

func TestGetWithoutPut(t *testing.T) {
	compiled := compile(t, `['{{repeat(0)}}', "{{put("a","x")}}"]{{get("a")}}`)
	s := compiled.NewState(0)
	dst := []byte("kept")
	if dst = compiled.Append(dst, s); string(dst) != "kept" || s.Err() == nil {
		t.Errorf("made %q, error %v", dst, s.Err())
	}
	if dst = compiled.Append(dst, s); string(dst) != "kept" {
		t.Errorf("a failed state made %q", dst)
	}
}

func TestSystemProperty(t *testing.T) {
	t.Setenv("FIRN_GEN_TEST", "value")
	expectError(t, `{{systemProperty("FIRN_GEN_TEST")}}`, "not allowed")
	compiled, err := Compile(`{{systemProperty("FIRN_GEN_TEST")}}`, Options{AllowEnvironment: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(compiled.Append(nil, compiled.NewState(0))); got != "value" {
		t.Errorf("made %q", got)
	}
	if _, err := Compile(`{{systemProperty("FIRN_GEN_NONE")}}`, Options{AllowEnvironment: true}); err == nil {
		t.Error("an unset variable gave no error")
	}
}
