package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/gen"
	"firn/internal/job"
	"firn/internal/sink/kafka"
)

// GeneratorConfig says what a generator makes and where it sends it.
type GeneratorConfig struct {
	Kafka         job.Kafka
	Topic         string
	TemplateText  string
	KeyText       string // empty: no keys
	RatePerSecond float64
	MessagesMax   int64
	Workers       int
	Options       gen.Options
	Progress      *gen.Progress
}

// Generator is a generator ready to run.
type Generator struct {
	config GeneratorConfig
	run    gen.RunConfig
	client *kgo.Client
}

// TemplateText is the text of a message template, given by its name or as a file.
func TemplateText(nameOrFile string) (string, error) {
	if text, ok := gen.Builtin(nameOrFile); ok {
		return text, nil
	}
	text, err := os.ReadFile(nameOrFile)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("template %s is neither a file nor one of %s", nameOrFile,
			strings.Join(gen.BuiltinNames(), ", "))
	}
	if err != nil {
		return "", fmt.Errorf("reading the template: %w", err)
	}
	return string(text), nil
}

// NewGenerator compiles the templates and makes the client. It connects to nothing yet.
func NewGenerator(c GeneratorConfig) (*Generator, error) {
	template, err := gen.Compile(c.TemplateText, c.Options)
	if err != nil {
		return nil, fmt.Errorf("reading the message template: %w", err)
	}
	g := &Generator{config: c}
	g.run = gen.RunConfig{
		Template: template, RatePerSecond: c.RatePerSecond, MessagesMax: c.MessagesMax, Workers: c.Workers,
		Progress: c.Progress,
	}
	if c.KeyText != "" {
		if g.run.KeyTemplate, err = gen.Compile(c.KeyText, c.Options); err != nil {
			return nil, fmt.Errorf("reading the key template: %w", err)
		}
	}
	options, err := KafkaOptions(c.Kafka)
	if err != nil {
		return nil, err
	}
	more, err := kafka.ProducerOptions(kafka.ProducerConfig{})
	if err != nil {
		return nil, err
	}
	if g.client, err = kgo.NewClient(append(options, more...)...); err != nil {
		return nil, fmt.Errorf("making the producer: %w", err)
	}
	if g.run.Sink, err = kafka.NewProducer(g.client, c.Topic, kafka.ProducerConfig{}); err != nil {
		g.client.Close()
		return nil, err
	}
	return g, nil
}

// Run makes and sends messages until the limit is reached or ctx ends.
func (g *Generator) Run(ctx context.Context) (gen.Stats, error) { return gen.Run(ctx, g.run) }

// Reach waits for at most limit until the brokers answer, and checks that the topic is there.
func (g *Generator) Reach(ctx context.Context, limit time.Duration, log *slog.Logger) error {
	return reach(ctx, limit, "Kafka at "+g.config.Kafka.Brokers[0], log, func(ctx context.Context) error {
		topics, err := kadm.NewClient(g.client).ListTopics(ctx, g.config.Topic)
		if err != nil {
			return err
		}
		if t := topics[g.config.Topic]; errors.Is(t.Err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("topic %s does not exist: make it with the partitions that it shall have", g.config.Topic)
		} else if t.Err != nil {
			return fmt.Errorf("topic %s: %w", g.config.Topic, t.Err)
		}
		return nil
	})
}

// Close lets go of the client.
func (g *Generator) Close() error {
	g.client.Close()
	return nil
}
