package gen

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kafkaParameters are enough for a run into Kafka.
func kafkaParameters() map[string]string {
	return map[string]string{
		"qps": "1000000", "schemaTemplate": "GAME_EVENT", "sinkType": "KAFKA", "bootstrapServer": "a:9092, b:9092",
		"kafkaTopic": "events",
	}
}

func with(changes map[string]string) map[string]string {
	p := kafkaParameters()
	maps.Copy(p, changes)
	maps.DeleteFunc(p, func(_, v string) bool { return v == "-" })
	return p
}

func TestFromTemplateParameters(t *testing.T) {
	gameEvent, _ := Builtin("GAME_EVENT")
	path := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(path, []byte(ReferenceTemplate), 0o600); err != nil {
		t.Fatal(err)
	}
	brokers := []string{"a:9092", "b:9092"}
	for _, c := range []struct {
		name    string
		changes map[string]string
		want    Config
	}{
		{"least", nil, Config{TemplateText: gameEvent, RatePerSecond: 1e6, Brokers: brokers, Topic: "events"}},
		{"most", map[string]string{"qps": "0.5", "messagesLimit": "7", "maxNumWorkers": "3", "outputType": "JSON"},
			Config{TemplateText: gameEvent, RatePerSecond: 0.5, MessagesMax: 7, Workers: 3, Brokers: brokers,
				Topic: "events"}},
		{"a file wins over a name", map[string]string{"schemaLocation": path},
			Config{TemplateText: ReferenceTemplate, RatePerSecond: 1e6, Brokers: brokers, Topic: "events"}},
		{"a file as URL", map[string]string{"schemaLocation": "file://" + path, "schemaTemplate": "-"},
			Config{TemplateText: ReferenceTemplate, RatePerSecond: 1e6, Brokers: brokers, Topic: "events"}},
		{"topic", map[string]string{"kafkaTopic": "-", "topic": "other"},
			Config{TemplateText: gameEvent, RatePerSecond: 1e6, Brokers: brokers, Topic: "other"}},
		{"parameters of other sinks", map[string]string{"windowDuration": "1m", "outputDirectory": "gs://b/d/"},
			Config{TemplateText: gameEvent, RatePerSecond: 1e6, Brokers: brokers, Topic: "events",
				Ignored: []string{"outputDirectory", "windowDuration"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FromTemplateParameters(with(c.changes))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFromTemplateParametersRefuses(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, templateBytesMax+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		changes map[string]string
		want    string
	}{
		{"no rate", map[string]string{"qps": "-"}, "qps is needed"},
		{"rate of zero", map[string]string{"qps": "0"}, "qps 0 is not a positive number"},
		{"rate in words", map[string]string{"qps": "many"}, "qps many is not"},
		{"limit", map[string]string{"messagesLimit": "-1"}, "messagesLimit -1"},
		{"workers", map[string]string{"maxNumWorkers": "0"}, "maxNumWorkers 0"},
		{"no template", map[string]string{"schemaTemplate": "-"}, "GAME_EVENT, LOG_ENTRY, reference"},
		{"template", map[string]string{"schemaTemplate": "GAME_EVENTS"}, "did you mean GAME_EVENT?"},
		{"no file", map[string]string{"schemaLocation": large + "r"}, "no such file"},
		{"large file", map[string]string{"schemaLocation": large}, "1048577 bytes"},
		{"cloud storage", map[string]string{"schemaLocation": "gs://b/s.json"}, "gs:// is not supported; copy"},
		{"output", map[string]string{"outputType": "AVRO"}, "outputType AVRO is not supported"},
		{"default sink", map[string]string{"sinkType": "-"}, "set sinkType=KAFKA, bootstrapServer and kafkaTopic"},
		{"Pub/Sub", map[string]string{"sinkType": "PUBSUB"}, "set sinkType=KAFKA"},
		{"other sink", map[string]string{"sinkType": "SPANNER"}, "SPANNER is not supported; set sinkType=KAFKA"},
		{"unknown sink", map[string]string{"sinkType": "kafka"}, "unknown sinkType kafka"},
		{"no brokers", map[string]string{"bootstrapServer": "-"}, "bootstrapServer is needed"},
		{"no topic", map[string]string{"kafkaTopic": "-"}, "kafkaTopic is needed"},
		{"topic of Pub/Sub", map[string]string{"kafkaTopic": "-", "topic": "projects/p/topics/t"}, "Pub/Sub topic"},
		{"unknown name", map[string]string{"kafkatopic": "x"}, "parameter kafkatopic; did you mean kafkaTopic?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FromTemplateParameters(with(c.changes))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestFromTemplateParametersGathersFaults(t *testing.T) {
	_, err := FromTemplateParameters(nil)
	if err == nil || strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("an empty set of parameters gave %v", err)
	}
}
