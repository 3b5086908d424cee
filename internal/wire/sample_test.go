package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
)

// The newest records become rows as in the job, and nothing is made by it.
func TestSampleTopics(t *testing.T) {
	kafka := newKafka(t, "sampled")
	j := localJob(t, kafka, "sampled")
	var values []string
	for i := range 6000 {
		values = append(values, fmt.Sprintf(`{"seq": %d, "text": %q}`, i, strings.Repeat("x", 100)))
	}
	values = append(values, `{"seq": "no number"}`)
	send(t, kafka, "sampled", values...)
	s, err := SampleTopics(t.Context(), j, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first := s.Batch.Columns[0].Ints64[0]
	if s.Batch.Rows != sampleRecords-1 || first != 6001-sampleRecords || len(s.Batch.Rejected) != 1 {
		t.Errorf("%d rows, %d rejected, first %d", s.Batch.Rows, len(s.Batch.Rejected), first)
	}
	want := 6001.0 / sampleWindow.Seconds() * (sampleRecords - 1) / sampleRecords
	if s.RowsPerSecond < want*0.99 || s.RowsPerSecond > want*1.01 {
		t.Errorf("%g rows a second, want %g", s.RowsPerSecond, want)
	}
	if s.RowBytes < 1 || s.RowBytes > 120 {
		t.Errorf("%g bytes a row", s.RowBytes)
	}
	if _, err := os.Stat(j.Sink.Iceberg.Catalog.URI); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a catalog was made: %v", err)
	}
}

func TestSampleOfNothing(t *testing.T) {
	kafka := newKafka(t, "empty")
	j := localJob(t, kafka, "empty")
	f := func(want string) {
		t.Helper()
		if _, err := SampleTopics(t.Context(), j, slog.New(slog.DiscardHandler)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	f("have no record that becomes a row: 0 were read")
	j.Source.Kafka.Topics = []string{"nothere"}
	f("nothere")
	j.Decode.Schema.Fields = nil
	f("has no decode.schema")
}
