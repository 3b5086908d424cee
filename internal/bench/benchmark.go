package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Benchmark is something that can be measured.
type Benchmark struct {
	Name    string
	Summary string // one line
	Runs    int    // counted runs that are usual
	// steps is how many steps a run with these options announces, for a progress bar.
	steps func(o Options) int
	run   func(ctx context.Context, s *session) ([]Result, error)
}

// All lists the benchmarks.
func All() []Benchmark {
	return []Benchmark{
		decodeBenchmark(), writeBenchmark(), generateBenchmark(), microBenchmark(), kafkaToIcebergBenchmark(),
		freshnessBenchmark(), freshBenchmark(),
	}
}

// Find is the benchmark of a name.
func Find(name string) (Benchmark, error) {
	all := All()
	names := make([]string, len(all))
	for i, b := range all {
		if b.Name == name {
			return b, nil
		}
		names[i] = b.Name
	}
	return Benchmark{}, fmt.Errorf("there is no benchmark %q; choose from %s", name, strings.Join(names, ", "))
}

// Options are the settings of a measurement.
type Options struct {
	Runs    int           // how often each figure is measured
	MB      int           // million bytes of messages to measure with; 0: the benchmark's own
	Window  time.Duration // least time of a run of a part that is measured alone
	For     time.Duration // how long messages flow while freshness is measured
	Brokers []string      // a real Kafka, in place of an in-memory one in a process of its own
	Cases   []string      // of kafka-to-iceberg; none: all
	Rivals  []string      // of kafka-to-iceberg: their ids, or "auto", all that can be had here; none: no rivals

	// Keep is given all results so far, complete in themselves, whenever a case of kafka-to-iceberg has ended, also one
	// that was interrupted. Nil: not wanted.
	Keep func(results []Result) error
	// Log is told what someone should know before the end. Nil: nobody.
	Log func(text string)

	Command  string // how a reader repeats it
	Commit   string // what is measured
	Progress *Progress
	// Child makes the command of a process of this program in the given role: RunBroker, RunJob or RunFloor answer it.
	Child func(ctx context.Context, role string, arguments ...string) *exec.Cmd
}

// Roles of child processes.
const (
	RoleBroker = "broker"
	RoleFloor  = "floor"
	RoleJob    = "job"
)

func (o Options) check() error {
	switch {
	case o.Runs < 1:
		return errors.New("a benchmark needs at least one run")
	case o.MB < 0:
		return errors.New("the amount of messages must not be negative")
	case o.Window <= 0 || o.For <= 0:
		return errors.New("the time to measure for must be above zero")
	case o.Child == nil:
		return errors.New("a benchmark needs a way to start processes")
	}
	return nil
}

// Steps is how many steps Progress counts over a run with these options.
func (b Benchmark) Steps(o Options) int { return b.steps(o) }

// Run measures. Results are complete: what failed is an error, never a figure that is missing.
func (b Benchmark) Run(ctx context.Context, o Options) ([]Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	s := &session{Options: o, machine: ReadMachine(), load: ReadLoad(), date: time.Now().UTC().Truncate(time.Second)}
	results, err := b.run(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("measuring %s: %w", b.Name, err)
	}
	return results, nil
}

// session is one run of one benchmark. One goroutine owns it.
type session struct {
	Options
	machine Machine
	load    *float64
	date    time.Time
}

// result is a result with all that is the same for the whole session.
func (s *session) result(name, unit string, runs []float64, conditions string) Result {
	return Result{
		Name: name, Unit: unit, Runs: slices.Clone(runs), Value: median(runs), Median: median(runs),
		Conditions: conditions, Command: s.Command, Commit: s.Commit, Machine: s.machine, LoadAtStart: s.load, Date: s.date,
	}
}

// warn tells what someone should know before the end.
func (s *session) warn(format string, arguments ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, arguments...))
	}
}

// amount is the messages to measure with, in million bytes.
func (o Options) amount(own int) int {
	if o.MB > 0 {
		return o.MB
	}
	return own
}

// Progress is how far a benchmark is. Reading it is safe while the benchmark runs.
type Progress struct {
	done atomic.Int64
	text atomic.Pointer[func() string]
}

// Done counts the steps that have ended.
func (p *Progress) Done() int64 { return p.done.Load() }

// Text says what is being done.
func (p *Progress) Text() string {
	if text := p.text.Load(); text != nil {
		return (*text)()
	}
	return ""
}

// step announces a step, and ends it by the function returned.
func (p *Progress) step(text func() string) (end func()) {
	p.text.Store(&text)
	return func() { p.done.Add(1) }
}

// say is a text that does not change.
func say(format string, arguments ...any) func() string {
	text := fmt.Sprintf(format, arguments...)
	return func() string { return text }
}
