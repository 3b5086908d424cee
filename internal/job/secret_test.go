package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// secretJob has the text hunter2 in every place where a secret may be.
func secretJob() Job {
	j := Default()
	j.Source.Kafka.SASL.Password = "hunter2"
	j.Source.Kafka.SASL.Token = "hunter2"
	j.Sink.Iceberg.Catalog = Catalog{
		Type: "rest", URI: "https://u:hunter2@h/", Credential: "id:hunter2", Token: "hunter2",
		Properties: map[string]string{
			"s3.secret-access-key": "hunter2", "s3.access-key-id": "hunter2", "header.Authorization": "Bearer hunter2",
			"s3.session-token": "hunter2", "adls.sas-token.x": "hunter2", "gcs.jsonkey": "hunter2", "s3.region": "visible",
		},
	}
	return j
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	j := secretJob()
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("json", "job", j, "password", j.Source.Kafka.SASL.Password,
		"catalog", j.Sink.Iceberg.Catalog)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("text", "job", j, "sasl", j.Source.Kafka.SASL,
		"catalog", j.Sink.Iceberg.Catalog)
	inJSON, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	sasl, err := yaml.Dump(j.Source.Kafka.SASL)
	if err != nil {
		t.Fatal(err)
	}
	prints := map[string]string{"log": logged.String(), "json": string(inJSON), "yaml": string(sasl), "YAML": j.YAML()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		prints[verb] = fmt.Sprintf(verb, j) + fmt.Sprintf(verb, &j) + fmt.Sprintf(verb, j.Source.Kafka.SASL.Password)
	}
	for how, text := range prints {
		if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("%s gives the secret: %s", how, text)
		}
		if !strings.Contains(text, mask) && !strings.HasPrefix(how, "%") {
			t.Errorf("%s does not show that there is a secret: %s", how, text)
		}
	}
	if j.Sink.Iceberg.Catalog.Properties["s3.access-key-id"] != "hunter2" {
		t.Error("printing changed the job")
	}
	if !strings.Contains(j.YAML(), "visible") {
		t.Error("a property that is no secret is hidden")
	}
}

func TestSecretWithoutTextIsEmpty(t *testing.T) {
	var s Secret
	if got := fmt.Sprintf("%s|%v|%q|%#v", s, s, s, s); got != `||""|""` {
		t.Errorf("got %s", got)
	}
	if s.String() != "" || s.GoString() != `""` || Secret("x").Reveal() != "x" {
		t.Error("an empty secret is printed, or Reveal hides one")
	}
}
