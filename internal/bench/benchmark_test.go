package bench

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBenchmarks measures a little of everything: it shows that each figure comes about, not how large it is.
func TestBenchmarks(t *testing.T) {
	for _, b := range quick() {
		t.Run(b.Name, func(t *testing.T) {
			o := tiny(t)
			o.Progress = &Progress{}
			results, err := b.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if steps := int64(b.Steps(o)); o.Progress.Done() != steps {
				t.Errorf("%d steps were announced, %d done", steps, o.Progress.Done())
			}
			if o.Progress.Text() == "" {
				t.Error("the progress says nothing")
			}
			names := map[string]bool{}
			for _, r := range results {
				checkResult(t, r, o)
				if names[r.Name] {
					t.Errorf("two results are named %s", r.Name)
				}
				names[r.Name] = true
			}
			if len(results) == 0 {
				t.Error("no results")
			}
		})
	}
}

// quick is all benchmarks. Commits come fast: a job that has caught up ends with its next commit.
func quick() []Benchmark {
	// Figures of a short run of fresh may be 0; it has a test of its own.
	all := slices.DeleteFunc(All(), func(b Benchmark) bool { return b.Name == freshBenchmark().Name })
	for i, b := range all {
		if b.Name != kafkaToIcebergBenchmark().Name {
			continue
		}
		cases := moveCases()
		for k := range cases {
			cases[k].commitInterval = time.Duration(200+k) * time.Millisecond // which is in the name
		}
		all[i] = moveBenchmark(cases)
	}
	return all
}

func checkResult(t *testing.T, r Result, o Options) {
	t.Helper()
	runs, value := o.Runs, median(r.Runs)
	if r.Name == figurePeak { // the most of each case
		runs, value = len(moveCases()), slices.Max(r.Runs)
	}
	if len(r.Runs) != runs || slices.Min(r.Runs) <= 0 {
		t.Errorf("%s: runs %v", r.Name, r.Runs)
	}
	if r.Value != value || r.Median != median(r.Runs) {
		t.Errorf("%s: value %v and median %v of %v", r.Name, r.Value, r.Median, r.Runs)
	}
	if r.Name == "" || r.Unit == "" || r.Conditions == "" || r.Command != o.Command || r.Commit != o.Commit ||
		r.Date.IsZero() {
		t.Errorf("something is missing in %+v", r)
	}
	if (r.Goal > 0) != (r.GoalReason != "") {
		t.Errorf("%s: goal %v, because %q", r.Name, r.Goal, r.GoalReason)
	}
	for _, rival := range append(r.OtherRivals, orNone(r.Rival)...) {
		if rival.Name == "" || rival.Value <= 0 || rival.Source == "" {
			t.Errorf("%s: rival %+v", r.Name, rival)
		}
	}
}

func orNone(r *Rival) []Rival {
	if r == nil {
		return nil
	}
	return []Rival{*r}
}

// TestRivalsBestFirst: the ratio is against the first one.
func TestRivalsBestFirst(t *testing.T) {
	falling := func(a, b Rival) int { return int(1e6 * (b.Value - a.Value)) }
	rising := func(a, b Rival) int { return falling(b, a) }
	for name, list := range map[string][]Rival{"bucketed": bucketedRivals(), "unpartitioned": unpartitionedRivals()} {
		if !slices.IsSortedFunc(list, falling) {
			t.Errorf("%s: %v", name, list)
		}
	}
	for name, list := range map[string][]Rival{
		"bucketed memory": bucketedRivalMemory(), "unpartitioned memory": unpartitionedRivalMemory(),
		"P50": freshnessRivals("P50"), "P95": freshnessRivals("P95"), "P99": freshnessRivals("P99"),
	} {
		if !slices.IsSortedFunc(list, rising) {
			t.Errorf("%s: %v", name, list)
		}
	}
}

func TestFind(t *testing.T) {
	if b, err := Find("decode"); err != nil || b.Name != "decode" || b.Summary == "" {
		t.Errorf("%+v, %v", b, err)
	}
	_, err := Find("nope")
	const all = "choose from decode, write, generate, micro, kafka-to-iceberg, freshness, fresh"
	if err == nil || !strings.Contains(err.Error(), all) {
		t.Errorf("error %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no runs":         func(o *Options) { o.Runs = 0 },
		"negative amount": func(o *Options) { o.MB = -1 },
		"no window":       func(o *Options) { o.Window = 0 },
		"no time":         func(o *Options) { o.For = 0 },
		"no processes":    func(o *Options) { o.Child = nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := tiny(t)
			change(&o)
			if _, err := generateBenchmark().Run(t.Context(), o); err == nil {
				t.Error("it was measured all the same")
			}
		})
	}
}

func TestTheEndOfTheContextEndsABenchmark(t *testing.T) {
	for _, b := range All() {
		t.Run(b.Name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := b.Run(ctx, tiny(t)); err == nil {
				t.Error("it was measured to the end")
			}
		})
	}
}

// TestAProcessThatFails: the error says what the process said.
func TestAProcessThatFails(t *testing.T) {
	o := tiny(t)
	whole := o.Child
	for _, role := range []string{RoleBroker, RoleJob} {
		o.Child = func(ctx context.Context, asked string, arguments ...string) *exec.Cmd {
			if asked == role {
				asked = "failing-" + role
			}
			return whole(ctx, asked, arguments...)
		}
		for _, b := range []Benchmark{kafkaToIcebergBenchmark(), freshnessBenchmark()} {
			_, err := b.Run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "it said: the role failing-"+role+" is broken") {
				t.Errorf("%s, %s: error %v", b.Name, role, err)
			}
		}
	}
}

func TestWorkThatFails(t *testing.T) {
	broken := errors.New("broken")
	s := &session{Options: tiny(t)}
	s.Progress = &Progress{}
	for name, w := range map[string]work{
		"an error":       func() (int64, error) { return 1, broken },
		"nothing at all": func() (int64, error) { return 0, nil },
		"less than that": func() (int64, error) { return -1, nil },
	} {
		if _, err := s.alternate(t.Context(), "test", []entrant{{"work", w}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
