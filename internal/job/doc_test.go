package job

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// row is one line of a table in docs/job-file.md.
type row struct{ preset, values, meaning string }

// referenceRows reads the rows of docs/job-file.md by the key or parameter that they explain.
func referenceRows(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile("../../docs/job-file.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	ofTable := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| `") {
			ofTable = strings.HasPrefix(line, "| table property |") // these are not the job's
		}
		if !strings.HasPrefix(line, "| `") || ofTable {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		if _, twice := rows[name]; twice {
			t.Errorf("%s is explained twice", name)
		}
		r := row{meaning: cells[len(cells)-1]}
		if len(cells) == 4 {
			r.preset, r.values = cells[1], cells[2]
		}
		if strings.TrimSpace(r.meaning) == "" {
			t.Errorf("%s is not explained", name)
		}
		rows[name] = r
	}
	return rows
}

// presetText is the default of a setting as the document writes it.
func presetText(j *Job, path string) string {
	v := reflect.ValueOf(*j)
	for name := range strings.SplitSeq(path, ".") {
		for _, k := range keysOf(v.Type()) {
			if k.name == name {
				v = v.FieldByIndex(k.index)
				break
			}
		}
	}
	if isEmpty(v) {
		return ""
	}
	return "`" + encodeScalar(v).Value + "`"
}

// requiredPaths are the settings that a job with nothing but defaults lacks.
func requiredPaths() []string {
	var paths []string
	j := Default()
	for _, f := range faultsOf(j.Validate()) {
		paths = append(paths, f.Path)
	}
	return paths
}

func TestReferenceHasEverySettingWithItsDefault(t *testing.T) {
	rows := referenceRows(t)
	defaults, required := Default(), requiredPaths()
	for _, path := range settingPaths() {
		r, ok := rows[path]
		want := presetText(&defaults, path)
		if want == "" {
			want = "-"
			if slices.Contains(required, path) {
				want = "required"
			}
		}
		if !ok || r.preset != want {
			t.Errorf("%s: the document has default %q, want %q", path, r.preset, want)
		}
		delete(rows, path)
	}
	for _, k := range keysOf(reflect.TypeFor[SchemaField]()) {
		if _, ok := rows["decode.schema.fields[]."+k.name]; !ok {
			t.Errorf("decode.schema.fields[].%s is missing in the document", k.name)
		}
		delete(rows, "decode.schema.fields[]."+k.name)
	}
	for _, p := range kafkaToIcebergYAML().parameters {
		if _, ok := rows[p.name]; !ok {
			t.Errorf("parameter %s is missing in the document", p.name)
		}
		delete(rows, p.name)
	}
	for name := range rows {
		t.Errorf("the document explains %s, which does not exist", name)
	}
}

func TestReferenceHasEveryRangeAndWord(t *testing.T) {
	rows := referenceRows(t)
	j := Default()
	for _, b := range j.bounds() {
		want := "`" + b.text(b.least) + "` to `" + b.text(b.most) + "`"
		if got := rows[b.path].values; !strings.Contains(got, want) {
			t.Errorf("%s: the document has range %q, want %s", b.path, got, want)
		}
	}
	for _, o := range j.choices() {
		for _, word := range o.allowed {
			if got := rows[o.path].values; word != "" && !strings.Contains(got, "`"+word+"`") {
				t.Errorf("%s: the document has %q, without %s", o.path, got, word)
			}
		}
	}
}

// A default outside of its own range would make the setting required without saying so.
func TestDefaultsAreValid(t *testing.T) {
	j := Default()
	for _, b := range j.bounds() {
		if b.value < b.least || b.value > b.most {
			t.Errorf("%s: default %s is not in its range", b.path, b.text(b.value))
		}
	}
	for _, path := range settingPaths() {
		if got := presetText(&j, path); got != "" && slices.Contains(requiredPaths(), path) {
			t.Errorf("%s: default %s is refused", path, got)
		}
	}
}
