package wire

import (
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/pipeline"
	"firn/internal/sink/deadletter"
)

// openDeadLetters opens where rejected records go; nil when the job stops at the first.
func (a *Assembly) openDeadLetters(j *job.Job, log *slog.Logger) (pipeline.DeadLetters, error) {
	if j.Errors.Policy != "dead_letter" {
		return nil, nil
	}
	if path := j.Errors.DeadLetter.File; path != "" {
		file, err := deadletter.OpenFile(path, j.Name, log)
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, file.Close)
		return file, nil
	}
	options, err := KafkaOptions(j.Source.Kafka.Kafka)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("making the client for dead letters: %w", err)
	}
	topic := deadletter.NewTopic(client, j.Errors.DeadLetter.Topic, j.Name)
	a.closers = append(a.closers, topic.Close)
	return topic, nil
}
