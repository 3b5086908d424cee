package bigquery

import (
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Jobs share a topic, and the last intent is found behind many others and after a compaction.
func TestIntentsOfOneJobAmongOthers(t *testing.T) {
	w := newWorld(t)
	a := w.committer("a")
	if _, err := a.Floor(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := record.Floor{"orders": {Identity: identity, Next: map[int32]int64{0: 5}}}
	if err := a.Init(t.Context(), record.Floor{}, at); err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(w.kafka()...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var others []*kgo.Record
	for range 2 * window {
		others = append(others, &kgo.Record{Topic: intentTopic, Key: []byte(uuid.NewString()), Value: []byte("{}")})
	}
	if err := client.ProduceSync(t.Context(), others...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if floor, err := w.committer("a").Floor(t.Context()); err != nil || !floor.Equal(at) {
			t.Errorf("%v, %v", floor, err)
		}
		w.brokers.Compact()
	}
	if floor, err := w.committer("b").Floor(t.Context()); err != nil || len(floor) != 0 {
		t.Errorf("another job: %v, %v", floor, err)
	}
}

func TestTopicsThatLoseIntents(t *testing.T) {
	w := newWorld(t)
	f := func(want string, partitions int32, settings map[string]string) {
		t.Helper()
		topic := uuid.NewString()
		if partitions > 0 {
			if err := w.brokers.CreateTopic(topic, partitions, settings); err != nil {
				t.Fatal(err)
			}
		}
		k := w.committer("j")
		k.intents.options.Topic = topic
		_, err := k.Floor(t.Context())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f("cleanup.policy=compact", 0, nil)
	f("must have one", 2, map[string]string{"cleanup.policy": "compact"})
	f("intents are lost", 1, map[string]string{"cleanup.policy": "delete", "retention.ms": "1000"})
	f("", 1, map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"})
}

func TestIntentsThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	client, err := kgo.NewClient(w.kafka()...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, text := range []string{"", "{}", `{"id":"x","job":"other","base":{},"next":{}}`, `{"id":"x","job":"j"}`,
		`{"id":"x","job":"j","base":{},"next":{},"streams":[{"stream":"s","rows":0}]}`} {
		r := &kgo.Record{Topic: intentTopic, Key: []byte("j"), Value: []byte(text)}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		k := w.committer("j")
		if err := k.intents.checkTopic(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := k.intents.openOnce(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
