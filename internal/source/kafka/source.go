package kafka

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

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
	if s.admin, err = kgo.NewClient(append(s.clientOptions(), adminOptions()...)...); err != nil {
		return nil, fmt.Errorf("making a kafka client: %w", err)
	}
	return s, nil
}

// clientOptions is what every client of the source has.
func (s *Source) clientOptions() []kgo.Opt {
	return append([]kgo.Opt{
		kgo.WithLogger(s.warnings),
		kgo.WithHooks(s.warnings),
	}, s.Client...)
}

// adminOptions is what the client that asks about topics has besides.
func adminOptions() []kgo.Opt {
	return []kgo.Opt{
		kgo.MetadataMinAge(metadataAgeMin),
		kgo.RetryTimeoutFn(func(key int16) time.Duration {
			if key == int16(kmsg.ListOffsets) {
				return listRetry
			}
			return adminRetry
		}),
	}
}

const (
	// listRetry is how long partitions without a leader are asked for again before they are left out: a new topic of
	// many partitions takes its time, and the caller asks again anyway (C80).
	listRetry = time.Second
	// adminRetry is the client's own default for all other requests.
	adminRetry = 30 * time.Second
)

// LimitBlocks has readers that are opened from now on cut blocks of at most so many bytes, and at most 4 MiB, unless a
// record is larger. What a block holds is walked through once a column, so that one which fits in the cache is decoded
// faster; rows that are scattered over many files want many in a block. It must not be called beside Open.
func (s *Source) LimitBlocks(bytesMax int) { s.blockBytesMax = min(max(bytesMax, 1), blockBytesMax) }

// Close ends the source's connections. Its readers are closed apart. It may be called twice.
func (s *Source) Close() error {
	s.close.Do(s.admin.Close)
	return nil
}
