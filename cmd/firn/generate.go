package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"firn/internal/gen"
	"firn/internal/job"
	"firn/internal/wire"
)

type generateOptions struct {
	Brokers     []string
	Topic       string
	Template    string
	KeyTemplate string
	Rate        float64
	Messages    int64
	For         time.Duration
	Workers     int
	Seed        uint64
	Environment bool
	Parameters  []string
	Print       bool
	Connect     time.Duration
}

func newGenerateCommand(g *globalOptions) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Send generated messages to Kafka at a set rate",
		Long: `Make messages from a template with json-data-generator's functions and send them to a Kafka topic at a set
rate. docs/generator.md lists the functions. The topic must exist.

Exit status: 0 the limit was reached or it was stopped, 1 sending failed, 2 usage or template, 3 brokers cannot be
reached.`,
		Example: `  firn generate --brokers localhost:9092 --topic orders --template reference --rate 10000 --messages 2000000
  firn generate --template message.json --messages 3 --print
  firn generate --parameters \
    qps=1000,schemaTemplate=GAME_EVENT,sinkType=KAFKA,bootstrapServer=localhost:9092,kafkaTopic=games`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return usageError{err}
			}
			return generate(cmd.Context(), g, o)
		},
	}
	addGenerateFlags(cmd.Flags(), &o)
	return cmd
}

func addGenerateFlags(f *pflag.FlagSet, o *generateOptions) {
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "qps" { // the template's name for it
			name = "rate"
		}
		return pflag.NormalizedName(name)
	})
	f.StringSliceVar(&o.Brokers, "brokers", nil, "`HOST:PORT`, several with commas between")
	f.StringVar(&o.Topic, "topic", "", "`topic` to send to")
	f.StringVar(&o.Template, "template", "reference", "message template: a `name` or a file")
	f.StringVar(&o.KeyTemplate, "key", "", "template `text` of the key")
	f.Float64Var(&o.Rate, "rate", 0, "messages per second; 0: as fast as it goes")
	f.Int64Var(&o.Messages, "messages", 0, "end after so many; 0: no limit")
	f.DurationVar(&o.For, "for", 0, "end after so long; 0: no limit")
	f.IntVar(&o.Workers, "workers", 0, "goroutines that make messages; 0: one a CPU")
	f.Uint64Var(&o.Seed, "seed", 0, "the same seed makes the same messages; 0: other ones each time")
	f.BoolVar(&o.Environment, "allow-environment", false, "let systemProperty read environment variables")
	f.StringArrayVar(&o.Parameters, "parameters", nil, "`a=b,c=d`: parameters of the template Streaming_Data_Generator, "+
		"in place of the flags")
	f.BoolVar(&o.Print, "print", false, "print the messages, one a line, in place of sending them")
	f.DurationVar(&o.Connect, "connect-timeout", 30*time.Second, "how long brokers are waited for")
}

// check refuses what cannot be meant, before anything is connected to.
func (o *generateOptions) check(f *pflag.FlagSet) error {
	if o.Rate < 0 || o.Messages < 0 || o.For < 0 || o.Workers < 0 {
		return errors.New("--rate, --messages, --for and --workers must not be negative")
	}
	if len(o.Parameters) == 0 {
		return nil
	}
	for _, name := range []string{"brokers", "topic", "template", "rate", "messages", "workers"} {
		if f.Changed(name) {
			return fmt.Errorf("--%s is not taken with --parameters: give it as a parameter of the template", name)
		}
	}
	return nil
}

func generate(ctx context.Context, g *globalOptions, o generateOptions) error {
	c, err := generatorConfig(g, o)
	if err != nil {
		return usageError{err}
	}
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.For)
		defer cancel()
	}
	if o.Print {
		return printMessages(ctx, g, c)
	}
	if len(c.Kafka.Brokers) == 0 || c.Topic == "" {
		return usageError{errors.New("give --brokers and --topic, or --parameters, or --print")}
	}
	return sendMessages(ctx, g, o, c)
}

// generatorConfig takes the flags, or the parameters in their place.
func generatorConfig(g *globalOptions, o generateOptions) (wire.GeneratorConfig, error) {
	c := wire.GeneratorConfig{
		Kafka: job.Kafka{Brokers: o.Brokers}, Topic: o.Topic, KeyText: o.KeyTemplate, RatePerSecond: o.Rate,
		MessagesMax: o.Messages, Workers: o.Workers, Options: gen.Options{Seed: o.Seed, AllowEnvironment: o.Environment},
		Progress: &gen.Progress{},
	}
	if len(o.Parameters) == 0 {
		text, err := wire.TemplateText(o.Template)
		c.TemplateText = withoutLineEnd(text)
		return c, err
	}
	merged, err := job.ParseParameters(o.Parameters...)
	if err != nil {
		return c, err
	}
	p, err := gen.FromTemplateParameters(merged)
	if err != nil {
		return c, err
	}
	for _, name := range p.Ignored {
		fmt.Fprintf(g.Stderr, "firn: template parameter %s is not used: it belongs to another sink\n", name)
	}
	c.Kafka.Brokers, c.Topic, c.TemplateText = p.Brokers, p.Topic, withoutLineEnd(p.TemplateText)
	c.RatePerSecond, c.MessagesMax, c.Workers = p.RatePerSecond, p.MessagesMax, p.Workers
	return c, nil
}

// withoutLineEnd drops the line break that ends every text file: it belongs to the file and not to the message.
func withoutLineEnd(text string) string { return strings.TrimRight(text, "\r\n") }

func sendMessages(ctx context.Context, g *globalOptions, o generateOptions, c wire.GeneratorConfig) (err error) {
	generator, err := wire.NewGenerator(c)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, generator.Close()) }()
	if err := generator.Reach(ctx, o.Connect, slog.New(slog.NewTextHandler(g.Stderr, nil))); err != nil {
		return err
	}
	o.Messages = c.MessagesMax // which may be a parameter's
	stop := showGenerated(ctx, g.Stderr, o, c.Progress.Messages.Load)
	stats, err := generator.Run(ctx)
	stop()
	if err != nil {
		return err
	}
	return printStats(g, stats)
}

func printStats(g *globalOptions, s gen.Stats) error {
	if g.JSON {
		return json.NewEncoder(g.Stdout).Encode(map[string]any{
			"messages": s.Messages, "bytes": s.Bytes, "seconds": s.Elapsed.Seconds(), "messages_per_second": s.RatePerSecond,
		})
	}
	_, err := fmt.Fprintf(g.Stdout, "%s messages, %s, in %.1f s: %s a second\n", humanize.Comma(s.Messages),
		humanize.Bytes(uint64(s.Bytes)), s.Elapsed.Seconds(), humanize.Comma(int64(s.RatePerSecond)))
	return err
}

// printed is a gen.Sink that writes lines.
type printed struct{ out *bufio.Writer }

// Send implements gen.Sink.
func (p printed) Send(_ context.Context, messages []gen.Message) error {
	for _, m := range messages {
		if _, err := p.out.Write(append(m.Value, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements gen.Sink.
func (p printed) Flush(context.Context) error { return p.out.Flush() }

func printMessages(ctx context.Context, g *globalOptions, c wire.GeneratorConfig) error {
	template, err := gen.Compile(c.TemplateText, c.Options)
	if err != nil {
		return usageError{err}
	}
	_, err = gen.Run(ctx, gen.RunConfig{
		Template: template, RatePerSecond: c.RatePerSecond, MessagesMax: c.MessagesMax, Workers: 1,
		Sink: printed{bufio.NewWriter(g.Stdout)},
	})
	return err
}
