package bigquery

import (
	"errors"
	"strconv"
	"testing"

	double "firn/internal/fault/bigquery"
	"firn/internal/record"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"
)

// What a process of the simulation does next.
const (
	doStep   = iota // read, write and commit
	doSeal          // read, write and store, and stall before the commit
	doCommit        // what was sealed last, or was committed already
	doSpill         // read and store, and give up
	doRotate        // read and give up
	doDie
	doRestart // as a new session of the same process
	acts
)

// turn is one act of one process, while something else goes wrong.
type turn struct {
	Process int
	Act     int
	Records int
	Append  int // a fault of the n-th append from now, if there is one; 0 is none
	Call    int
	EndTxn  int // a fault of the next transactions
	Kind    int
}

var turnGenerator = rapid.Custom(func(t *rapid.T) turn {
	return turn{
		Process: rapid.IntRange(0, 2).Draw(t, "process"), Act: rapid.IntRange(0, acts-1).Draw(t, "act"),
		Records: rapid.IntRange(1, 40).Draw(t, "records"), Append: rapid.IntRange(0, 6).Draw(t, "append"),
		Call: rapid.IntRange(0, 6).Draw(t, "call"), EndTxn: rapid.IntRange(0, 3).Draw(t, "end"),
		Kind: rapid.IntRange(0, 4).Draw(t, "kind"),
	}
})

// histories is how many of them the test tries: each has servers of its own.
const histories = 30

// Whatever three processes of one job do to each other, dying, stalling and waking, a query sees the records below the
// floor, each once.
func TestSimulation(t *testing.T) {
	all := rapid.SliceOfN(turnGenerator, 1, 14)
	for seed := range histories {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			simulate(t, all.Example(seed))
		})
	}
}

// simulated is a process with what it sealed last.
type simulated struct {
	*process

	sealed record.Sealed
}

func simulate(t *testing.T, history []turn) {
	w := newWorld(t)
	var processes [3]*simulated
	for _, d := range history {
		w.trouble(d)
		s := processes[d.Process]
		if s == nil {
			s = &simulated{process: &process{world: w, writer: w.writer(w.small()), committer: w.committer("j")}}
			s.ctx = t.Context()
			if s.restart() == nil {
				processes[d.Process] = s
			} else {
				s.die()
			}
			continue
		}
		if err := s.act(d); err != nil {
			s.writer.Rotate().Discard()
			if !errors.Is(err, errRejected) || s.restart() != nil {
				s.die()
				processes[d.Process] = nil
			}
		}
	}
	w.trouble(turn{})
	last := w.start()
	w.visible(last.at)
	if err := last.step(5); err != nil {
		t.Fatal(err)
	}
	w.visible(last.at)
}

var errDied = errors.New("died")

func (s *simulated) act(d turn) (err error) {
	records := int64(d.Records)
	switch d.Act {
	case doStep:
		return s.step(records)
	case doSeal:
		s.sealed, err = s.seal(records, plain)
		return err
	case doCommit:
		if s.sealed.ID == "" {
			return nil
		}
		return s.commit(s.sealed)
	case doSpill:
		if err := s.writer.Write(s.ctx, s.world.batch(s.at, s.at+records, plain)); err != nil {
			return err
		}
		return errors.Join(s.writer.Spill(s.ctx, 0), errDied)
	case doRotate:
		_, flush, err := s.write(records, plain)
		flush.Discard()
		return err
	case doRestart:
		s.writer.Rotate().Discard()
		return s.restart()
	default:
		return errDied
	}
}

func (s *simulated) die() {
	s.writer.Close()
	s.committer.(*Committer).intents.close()
}

// trouble sets what goes wrong until it is called again.
func (w *world) trouble(d turn) {
	unavailable := double.Unavailable()
	fates := []double.Fate{
		double.Cut(), double.LandAndCut(), double.LandAndEnd(unavailable), double.RefuseAndEnd(unavailable),
		double.Refuse(status.Error(codes.FailedPrecondition, "The stream is finalized.")),
	}
	appends, calls := d.Append, d.Call
	w.server.Faults().OnAppend(func(double.AppendCall) double.Fate {
		w.mu.Lock()
		defer w.mu.Unlock()
		if appends--; appends == 0 {
			return fates[d.Kind]
		}
		return double.Pass()
	})
	w.server.Faults().OnCall(func(double.Call) double.Fate {
		w.mu.Lock()
		defer w.mu.Unlock()
		calls--
		switch {
		case calls != 0:
			return double.Pass()
		case d.Kind == len(fates)-1: // for good: the process dies of it
			return double.Refuse(status.Error(codes.PermissionDenied, "broken by the test"))
		default:
			return double.Fate{Skip: fates[d.Kind].Skip, Cut: fates[d.Kind].Cut, Err: fates[d.Kind].Err}
		}
	})
	if w.ends != nil {
		w.ends.Remove()
	}
	ends := []*kerr.Error{nil, kerr.UnknownServerError, kerr.RequestTimedOut, kerr.InvalidProducerEpoch}
	if err := ends[d.EndTxn]; err != nil {
		w.ends = w.brokers.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, Err: err, Count: 1 + d.Records%2})
	}
}
