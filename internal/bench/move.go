package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"firn/internal/gen"
)

const (
	// moveMB makes a run long against its start.
	moveMB = 2000
	// moveRivalsMB is what it takes for rivals to warm up, a minute of CPU time, and to commit some times after that.
	moveRivalsMB = 6000
)

func kafkaToIcebergBenchmark() Benchmark { return moveBenchmark(moveCases()) }

func moveBenchmark(all []moveCase) Benchmark {
	return Benchmark{
		Name: ChartedBenchmark, Runs: 3, Summary: "the main job beside its rivals, from a topic that is full at the start",
		steps: func(o Options) int {
			cases, err := chosenCases(all, o.Cases)
			if err != nil {
				return 0
			}
			return moveSteps(cases, o)
		},
		run: func(ctx context.Context, s *session) ([]Result, error) {
			cases, err := chosenCases(all, s.Cases)
			if err != nil {
				return nil, err
			}
			return s.moveAll(ctx, cases)
		},
	}
}

// moveSteps counts the fillings and the runs, those that warm up included.
func moveSteps(cases []moveCase, o Options) int {
	steps := len(groupByKind(cases))
	peers, _ := choosePeers(o)
	for _, c := range cases {
		entrants := 1
		if c.floor {
			entrants++
		}
		if c.rivals {
			entrants += len(peers)
		}
		steps += entrants * (o.Runs + 1)
	}
	return steps
}

// groupByKind puts cases that read the same topic together, in the order of the list.
func groupByKind(cases []moveCase) [][]moveCase {
	var groups [][]moveCase
	for _, c := range cases {
		i := slices.IndexFunc(groups, func(g []moveCase) bool { return g[0].kind.name == c.kind.name })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// moveAll measures all cases. What is measured is kept after each of them: see Options.Keep.
func (s *session) moveAll(ctx context.Context, cases []moveCase) (results []Result, err error) {
	rooms, err := newFolders()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rooms.remove()) }()
	peers := s.openPeers(ctx)
	var details []Result
	for _, group := range groupByKind(cases) {
		if err := s.moveGroup(ctx, group, peers, rooms, &details); err != nil {
			return nil, err
		}
	}
	return Summarize(details), nil
}

// moveGroup fills a topic, has every case read it, and deletes it: there is never more than one in the page cache.
func (s *session) moveGroup(
	ctx context.Context, cases []moveCase, peers []*peer, rooms *folders, details *[]Result,
) (err error) {
	b, err := s.openBroker(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close(context.WithoutCancel(ctx))) }()
	m := &mover{session: s, broker: b, rooms: rooms}
	if m.sent, err = s.preload(ctx, b, cases[0].kind, len(peers) > 0); err != nil {
		return err
	}
	for _, c := range cases {
		found, err := m.rounds(ctx, c, m.entrants(c, peers))
		*details = append(*details, found...)
		if s.Keep != nil && len(found) > 0 {
			err = errors.Join(err, s.Keep(Summarize(*details)))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.id, err)
		}
	}
	return nil
}

// preload fills the topic.
func (s *session) preload(ctx context.Context, b *broker, k kind, rivals bool) (gen.Stats, error) {
	own := moveMB
	if rivals {
		own = moveRivalsMB
	}
	messages := max(1, int64(s.amount(own))*1e6/k.bytes)
	var progress gen.Progress
	defer s.Progress.step(func() string {
		return fmt.Sprintf("filling the topic with %s messages, %s of %s", k.name,
			humanize.Comma(progress.Messages.Load()), humanize.Comma(messages))
	})()
	return b.fill(ctx, fillConfig{kind: k, messages: messages, progress: &progress, large: true})
}

// mover has one full topic moved by one system after the other. One goroutine owns it.
type mover struct {
	session *session
	broker  *broker
	sent    gen.Stats
	rooms   *folders
}

// entrantRuns is a system that moves the topic, and its counted runs.
type entrantRuns struct {
	name       string
	conditions string
	move       func(ctx context.Context, c jobConfig) (measured, error)
	may        bool // fail: then it is left out of the rounds that follow
	runs       []measured
	failed     error
}

// rounds has all systems move the topic in turn: one round to warm up, which does not count, then Runs rounds. When
// it fails, the results are those of the runs that had ended; a run stands at the place of its round.
func (m *mover) rounds(ctx context.Context, c moveCase, entrants []*entrantRuns) ([]Result, error) {
	s := m.session
	for round := range s.Runs + 1 {
		for _, e := range entrants {
			if e.failed != nil {
				continue
			}
			end := s.Progress.step(say("%s: %s, %s", c.id, e.name, roundText(round, s.Runs)))
			run, err := m.run(ctx, c, e)
			end()
			switch {
			case err == nil && round > 0:
				e.runs = append(e.runs, run)
			case err != nil && (!e.may || ctx.Err() != nil):
				return m.results(c, entrants), fmt.Errorf("%s: %w", e.name, err)
			case err != nil:
				e.failed = fmt.Errorf("%s: %w", roundText(round, s.Runs), err)
				s.warn("%s: %s is left out: %v", c.id, e.name, e.failed)
			}
		}
	}
	return m.results(c, entrants), nil
}

func roundText(round, runs int) string {
	if round == 0 {
		return "warm-up"
	}
	return fmt.Sprintf("run %d of %d", round, runs)
}

// run has a system move the topic once, into a new folder.
func (m *mover) run(ctx context.Context, c moveCase, e *entrantRuns) (measured, error) {
	folder, err := m.rooms.next()
	if err != nil {
		return measured{}, err
	}
	run, err := e.move(ctx, jobConfig{m.broker, folder, c.kind, c.partition, c.compression, c.commitInterval, nil})
	return run, errors.Join(err, m.rooms.empty(folder))
}

// results are the details of each system that has counted runs.
func (m *mover) results(c moveCase, entrants []*entrantRuns) []Result {
	var results []Result
	for _, e := range entrants {
		if len(e.runs) > 0 {
			results = append(results, m.session.details(c, e.name, e.runs, m.conditions(c, e))...)
		}
	}
	return results
}

// conditions say what was measured and how.
func (m *mover) conditions(c moveCase, e *entrantRuns) string {
	remarks := []string{
		fmt.Sprintf("%s; %s messages of %d bytes on average, not compressed, in %d topic partitions of %s", c,
			humanize.Comma(m.sent.Messages), m.sent.Bytes/max(m.sent.Messages, 1), topicPartitions, m.broker.kind),
		e.conditions,
	}
	if e.failed != nil {
		remarks = append(remarks, "it was left out after it failed in the "+e.failed.Error())
	}
	for _, r := range e.runs {
		if r.remark != "" && !slices.Contains(remarks, r.remark) {
			remarks = append(remarks, r.remark)
		}
	}
	return strings.Join(remarks, "; ")
}
