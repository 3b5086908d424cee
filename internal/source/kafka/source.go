package kafka

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/pipeline"
)

var (
	_ pipeline.Source = (*Source)(nil)
	_ pipeline.Reader = (*reader)(nil)
)

// Source is some topics of a Kafka cluster. It is safe for concurrent use.
type Source struct {
	settings
	admin    *kgo.Client // asks about topics, offsets and groups; each reader has a client of its own
	warnings *warnings
	log      *slog.Logger
	acks     acknowledged
	close    sync.Once
}

// New makes a source. It does no I/O; see Preflight. A nil log discards.
func New(cfg Config, log *slog.Logger) (*Source, error) {
	checked, err := cfg.check()
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Source{settings: checked, log: log, warnings: newWarnings(log)}
	if s.admin, err = kgo.NewClient(s.clientOptions()...); err != nil {
		return nil, fmt.Errorf("making a kafka client: %w", err)
	}
	return s, nil
}

// clientOptions is what every client of the source has.
func (s *Source) clientOptions() []kgo.Opt {
	return append([]kgo.Opt{
		kgo.WithLogger(s.warnings),
		kgo.WithHooks(s.warnings),
		kgo.MetadataMinAge(metadataAgeMin),
	}, s.Client...)
}

// Close ends the source's connections. Its readers are closed apart. It may be called twice.
func (s *Source) Close() error {
	s.close.Do(s.admin.Close)
	return nil
}
