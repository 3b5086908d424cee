package bench

import (
	"context"
	"fmt"

	"firn/internal/gen"
)

// generateMB is what one call of the generator makes.
const generateMB = 64

// generateGoalReason is why the goal is what it is.
const generateGoalReason = "a generator must not be what is measured: several times what a job moves"

// generateCase is one template.
type generateCase struct {
	name string
	text string
	goal float64
}

func generateCases() []generateCase {
	game, _ := gen.Builtin("GAME_EVENT")
	return []generateCase{
		{"reference message", gen.ReferenceTemplate, 300},
		{"GAME_EVENT", game, 0},
	}
}

func generateBenchmark() Benchmark {
	return Benchmark{
		Name: "generate", Runs: 5, Summary: "messages made from a template, on one thread, without sending them",
		steps: func(o Options) int { return alternateSteps(o, len(generateCases())) },
		run: func(ctx context.Context, s *session) ([]Result, error) {
			cases := generateCases()
			entrants := make([]entrant, len(cases))
			for i, c := range cases {
				work, err := generateWork(ctx, c.text, int64(s.amount(generateMB))*1e6)
				if err != nil {
					return nil, err
				}
				entrants[i] = entrant{c.name, work}
			}
			rates, err := s.alternate(ctx, "generate", entrants)
			if err != nil {
				return nil, err
			}
			results := make([]Result, len(cases))
			for i, c := range cases {
				results[i] = s.result("generate, "+c.name, unitPerCPU, rates[i], "one worker, no rate limit, messages thrown away")
				if c.goal > 0 {
					results[i].Goal, results[i].GoalReason = c.goal, generateGoalReason
				}
			}
			return results, nil
		},
	}
}

// generateWork makes about the given bytes of messages.
func generateWork(ctx context.Context, text string, bytes int64) (work, error) {
	template, err := gen.Compile(text, gen.Options{Seed: sampleSeed})
	if err != nil {
		return nil, fmt.Errorf("compiling the message template: %w", err)
	}
	one := int64(len(template.Append(nil, template.NewState(0))))
	return func() (int64, error) {
		stats, err := gen.Run(ctx, gen.RunConfig{
			Template: template, MessagesMax: max(1, bytes/one), Workers: 1, Sink: nowhere{},
		})
		return stats.Bytes, err
	}, nil
}

// nowhere is a gen.Sink that throws messages away.
type nowhere struct{}

// Send implements gen.Sink.
func (nowhere) Send(context.Context, []gen.Message) error { return nil }

// Flush implements gen.Sink.
func (nowhere) Flush(context.Context) error { return nil }
