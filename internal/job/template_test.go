package job

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parametersFile reads a file of testdata with one NAME=VALUE a line.
func parametersFile(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parameters, err := ParseParameters("^\n^" + strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return parameters
}

// Each set of parameters is kept with the job that it makes and what is ignored, or with all that is wrong with it.
func TestFromTemplate(t *testing.T) {
	for _, path := range files(t, "testdata/*.params") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			j, err := FromTemplate("Kafka_To_Iceberg_Yaml", parametersFile(t, path))
			if (j == nil) == (err == nil) {
				t.Fatalf("got %v, %v", j, err)
			}
			var got strings.Builder
			if err != nil {
				fmt.Fprintln(&got, err)
			} else {
				fmt.Fprint(&got, j.YAML())
				for _, i := range j.Ignored {
					fmt.Fprintf(&got, "# ignored: %s: %s\n", i.Parameter, i.Reason)
				}
			}
			if strings.Contains(got.String(), "hunter2") {
				t.Errorf("gives a secret: %s", &got)
			}
			golden(t, path+".txt", got.String())
		})
	}
}

func TestFromTemplateTakesSecrets(t *testing.T) {
	j, err := FromTemplate("Kafka_To_Iceberg_Yaml", parametersFile(t, "testdata/everything.params"))
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Source.Kafka.SASL.Password.Reveal(); got != `hunter2"x` {
		t.Errorf("password %q", got)
	}
	if got := j.Sink.Iceberg.Catalog.Properties["s3.secret-access-key"]; got != "hunter2" {
		t.Errorf("secret key %q", got)
	}
}

func TestFromTemplateUnknown(t *testing.T) {
	_, err := FromTemplate("Kafka_To_Iceberg", nil)
	want := "unknown template \"Kafka_To_Iceberg\", known: Kafka_To_Iceberg_Yaml\n" +
		"  do: check the spelling, or write a job file"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// C18: the same parameters name the same job at each start, and so find the same offsets.
func TestNameFrom(t *testing.T) {
	for table, want := range map[string]string{
		"shop.orders": "shop-orders", "a.b_c.D9": "a-b_c-D9", "_x.y": "x-y", "\u00fc.y": "y", ".": "",
		strings.Repeat("a", 200) + ".b": strings.Repeat("a", nameBytesMax),
	} {
		if got := nameFrom(table); got != want {
			t.Errorf("%s: got %s, want %s", table, got, want)
		}
	}
}
