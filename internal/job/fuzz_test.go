package job

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkFaults fails unless err is nothing but complete faults, each in a line of the text or of a template's parameter.
func checkFaults(t *testing.T, err error, linesMax int) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("the error is %T: %v", err, err)
	}
	for _, f := range faults {
		inLine := f.Line > 0 && f.Line <= linesMax && f.Column > 0
		ofParameter := f.Line == 0 && strings.HasPrefix(f.Path, "parameter ")
		if f.What == "" || f.Do == "" || inLine == ofParameter {
			t.Fatalf("incomplete fault %+v", f)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.good.yaml", "testdata/*.bad.yaml", "../../examples/*.yaml"} {
		for _, path := range files(f, pattern) {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := Parse(text, "testdata/fuzz.yaml", func(name string) string { return strings.Repeat(name, 2) })
		if err != nil {
			checkFaults(t, err, strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+
				strings.Count(string(text), "\u2028")+strings.Count(string(text), "\u2029")+
				strings.Count(string(text), "\u0085")+1)
			return
		}
		if err := j.Validate(); err != nil {
			t.Fatalf("a job that was taken is not valid: %v", err)
		}
		again, err := Parse([]byte(j.YAML()), "effective.yaml", nil)
		if strings.Contains(j.YAML(), mask) || strings.Contains(j.YAML(), "xxxxx@") {
			return
		}
		if err != nil {
			t.Fatalf("the printed job is refused: %v\n%s", err, j.YAML())
		}
		if diff := cmp.Diff(j, again); diff != "" {
			t.Fatalf("the printed job is another: %s\n%s", diff, j.YAML())
		}
	})
}

func FuzzParseParameters(f *testing.F) {
	f.Add("a=b,c=d")
	f.Add(`^@^a={"x":"u@h"}@b=c`)
	f.Add(`a={"x":"1,y=2"},b=[1`)
	f.Fuzz(func(t *testing.T, text string) {
		parameters, err := ParseParameters(text)
		if (parameters == nil) == (err == nil) {
			t.Fatalf("got %v, %v", parameters, err)
		}
		for name, value := range parameters {
			if name == "" || !strings.Contains(text, name+"="+value) {
				t.Fatalf("%q does not give %q=%q", text, name, value)
			}
		}
	})
}

func FuzzFromTemplate(f *testing.F) {
	for _, path := range files(f, "testdata/*.params") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		parameters := map[string]string{}
		for line := range strings.SplitSeq(text, "\n") {
			if name, value, ok := strings.Cut(line, "="); ok {
				parameters[name] = value
			}
		}
		j, err := FromTemplate("Kafka_To_Iceberg_Yaml", parameters)
		if err != nil {
			checkFaults(t, err, 0)
			return
		}
		if err := j.Validate(); err != nil {
			t.Fatalf("a job that was taken is not valid: %v", err)
		}
	})
}
