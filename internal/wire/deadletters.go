package wire

import (
	"context"
	"log/slog"

	"firn/internal/job"
	"firn/internal/pipeline"
	"firn/internal/sink/deadletter"
)

// openDeadLetters opens where rejected records go; nil when the job stops at the first.
func (a *Assembly) openDeadLetters(ctx context.Context, j *job.Job, log *slog.Logger) (pipeline.DeadLetters, error) {
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
	opening, cancel := context.WithTimeout(ctx, j.Limits.ConnectTimeout)
	defer cancel()
	topic, err := deadletter.OpenTopic(opening, options, j.Errors.DeadLetter.Topic, j.Name)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, topic.Close)
	return topic, nil
}
