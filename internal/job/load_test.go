package job

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return names
}

func parseFile(t *testing.T, path string, env func(string) string) (*Job, error) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(text, path, env)
}

// The messages are the product: each file with faults is kept with all that is said about it.
func TestParseReportsEveryFault(t *testing.T) {
	for _, path := range files(t, "testdata/*.bad.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			j, err := parseFile(t, path, nil)
			if j != nil || err == nil {
				t.Fatal("the job was taken")
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", err.Error()+"\n")
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("the error is %T, not Faults", err)
			}
			for _, f := range faults {
				if f.Line < 1 || f.Column < 1 || f.What == "" || f.Do == "" || f.File != path {
					t.Errorf("incomplete fault: %+v", f)
				}
				for _, word := range []string{"reflect", "job.", "time.", "strconv", "int64", "unmarshal", "hunter2"} {
					if strings.Contains(strings.ReplaceAll(f.Error(), "job file", ""), word) {
						t.Errorf("fault speaks of %q: %v", word, f)
					}
				}
			}
		})
	}
}

func TestParseGivesOneFaultAKey(t *testing.T) {
	_, err := parseFile(t, "testdata/five-faults.bad.yaml", nil)
	var got []string
	for _, f := range faultsOf(err) {
		got = append(got, f.Path)
	}
	want := []string{"name", "source.kafka.brokers[0]", "source.kafka.isolation", "sink.iceberg.commit_interval",
		"sink.iceberg.targt_file_size"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseTakesGoodFiles(t *testing.T) {
	for _, path := range files(t, "testdata/*.good.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			j, err := parseFile(t, path, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", j.YAML())
		})
	}
}

func TestParseReplacesVariablesInSecrets(t *testing.T) {
	text := strings.Replace(minimal, "type: sql\n      uri: catalog.db", `type: rest
      uri: https://${USER}@h/
      credential: id:${PW}-${PW}
      properties: {s3.secret-access-key: "$${PW}${PW}"}`, 1)
	j, err := Parse([]byte(text), "job.yaml", func(name string) string {
		return map[string]string{"PW": "${USER}", "USER": "u:p"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	c := j.Sink.Iceberg.Catalog
	got := []string{c.URI, c.Credential.Reveal(), c.Properties["s3.secret-access-key"]}
	want := []string{"https://u:p@h/", "id:${USER}-${USER}", "${PW}${USER}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseCompletesTheJob(t *testing.T) {
	text := strings.Replace(minimal, "topics:", "tls: {server_name: x}\n    topics:", 1)
	j, err := Parse([]byte(text), "job.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	// C25: the group is never empty, so that nothing is committed nowhere.
	if j.Source.Kafka.Group != "firn-orders" {
		t.Errorf("group %q", j.Source.Kafka.Group)
	}
	if !j.Source.Kafka.TLS.Enabled {
		t.Error("server_name does not turn TLS on")
	}
}

func TestLoadFindsFilesBesideTheJobFile(t *testing.T) {
	j, err := Load("testdata/everything.good.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := j.Source.Kafka.SASL
	if s.Password.Reveal() != "hunter2" {
		t.Errorf("password %q", s.Password.Reveal())
	}
	if !filepath.IsAbs(s.PasswordFile) || filepath.Base(s.PasswordFile) != "password.txt" {
		t.Errorf("password_file %q", s.PasswordFile)
	}
}

func TestLoadOfNoFile(t *testing.T) {
	_, err := Load("testdata/no-such.yaml", nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestParseRefusesHugeFiles(t *testing.T) {
	_, err := Parse([]byte(minimal+"#"+strings.Repeat("x", fileBytesMax)), "job.yaml", nil)
	if err == nil || !strings.Contains(err.Error(), "keep it under 1MiB") {
		t.Errorf("got %v", err)
	}
}

// minimal is a job with nothing but what is required.
const minimal = `name: orders
kind: kafka-to-iceberg
source:
  kafka:
    brokers: [localhost:9092]
    topics: [orders]
sink:
  iceberg:
    catalog:
      type: sql
      uri: catalog.db
      warehouse: ./warehouse
    table: shop.orders
`
