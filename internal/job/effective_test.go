package job

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What firn check prints is a job file of its own, and makes the same job.
func TestYAMLIsReadBackToTheSameJob(t *testing.T) {
	for _, path := range files(t, "testdata/*.good.yaml") {
		want, err := parseFile(t, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse([]byte(want.YAML()), "effective.yaml", nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, want.YAML())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestYAMLIsReadBackButForSecrets(t *testing.T) {
	j, err := Parse([]byte(minimal), "job.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	j.Sink.Iceberg.Catalog = Catalog{Name: "x", Type: "rest", URI: "https://h/${x}", Token: "hunter2",
		Properties: map[string]string{"s3.session-token": "hunter2", "token-refresh-enabled": "true"}}
	_, err = Parse([]byte(j.YAML()), "job.yaml", nil)
	var paths []string
	for _, f := range faultsOf(err) {
		paths = append(paths, f.Path)
	}
	want := []string{"sink.iceberg.catalog.token", "sink.iceberg.catalog.properties.s3.session-token"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("faults of\n%s\n%v\n%s", j.YAML(), err, diff)
	}
}

func TestYAMLKeepsTextsThatLookLikeSomethingElse(t *testing.T) {
	j, err := Parse([]byte(minimal), "job.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	properties := map[string]string{}
	for _, text := range []string{"", "true", "null", "~", "12", "1e3", "a: b", "# x", "- x", "*a", "&a", "!!int 1",
		"a\nb\n", " a ", "'", `"`, "\t", "\u00e9", "\u2028", "{a", "[", "%x", "@", "<<", "=", "0x1F", "2026-01-31",
		strings.Repeat("long ", 50)} {
		properties["k"+text] = text
	}
	j.Sink.Iceberg.Properties = properties
	got, err := Parse([]byte(j.YAML()), "job.yaml", nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, j.YAML())
	}
	if diff := cmp.Diff(properties, got.Sink.Iceberg.Properties); diff != "" {
		t.Error(diff)
	}
}

func TestDurationText(t *testing.T) {
	for text, d := range map[string]time.Duration{"0s": 0, "200ms": 200 * time.Millisecond, "10m": 10 * time.Minute,
		"1h": time.Hour, "1h0m1s": time.Hour + time.Second, "1h1m": 61 * time.Minute, "20s": 20 * time.Second,
		"1m20s": 80 * time.Second} {
		if got := durationText(d); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

func TestExamplesAreGoodJobs(t *testing.T) {
	env := func(name string) string { return "value of " + name }
	for _, path := range files(t, "../../examples/*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, err := parseFile(t, path, env); err != nil {
				t.Error(err)
			}
		})
	}
}
