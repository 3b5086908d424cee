package bigquery

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	double "firn/internal/fault/bigquery"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Rows go where they belong, whatever becomes of appends and calls.
func TestEveryFateOfAppendsAndCalls(t *testing.T) {
	late := make(chan struct{})
	close(late)
	unavailable, internal := double.Unavailable(), status.Error(codes.Internal, "broken by the test")
	for name, fate := range map[string]double.Fate{
		"refuse": double.Refuse(unavailable), "refuse and end": double.RefuseAndEnd(internal), "cut": double.Cut(),
		"land": double.Land(internal), "land and end": double.LandAndEnd(unavailable),
		"land and cut": double.LandAndCut(), "land late": double.LandLate(late), "stall": double.LandAndStall(),
		"quota":     double.Refuse(double.ThroughputQuota(time.Millisecond)),
		"finalized": double.Refuse(status.Error(codes.FailedPrecondition, "The stream is finalized.")),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.Faults().OnAppend(func(c double.AppendCall) double.Fate {
				if c.N%4 == 2 {
					return fate
				}
				return double.Pass()
			})
			w.server.Faults().OnCall(func(c double.Call) double.Fate {
				if c.N%3 == 1 && !fate.Stall && name != "finalized" {
					return double.Fate{Skip: fate.Skip, Cut: fate.Cut, Err: fate.Err, Hold: fate.Hold}
				}
				return double.Pass()
			})
			p := w.start()
			for range 3 {
				if err := p.step(24); err != nil {
					t.Fatal(err)
				}
			}
			w.visible(72)
			if held := p.writer.BufferedBytes(); held != 0 {
				t.Errorf("%d bytes are still held", held)
			}
		})
	}
}

func TestConnectionsThatEnd(t *testing.T) {
	for name, end := range map[string]func(*double.Faults){
		"idle": (*double.Faults).CloseIdle, "cut": (*double.Faults).CutConnections, "drain": (*double.Faults).Drain,
		"error": func(f *double.Faults) { f.EndConnections(double.Unavailable()) },
		"quota": func(f *double.Faults) { f.LimitCreates(1000) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start()
			for range 4 {
				if err := p.step(24); err != nil {
					t.Fatal(err)
				}
				end(w.server.Faults())
			}
			w.visible(96)
		})
	}
}

// A stream that ends before its rows are in an intent loses none: what was stored stays, and the rest has another.
func TestStreamEndsBeforeTheSeal(t *testing.T) {
	for name, end := range map[string]func(w *world, stream string) error{
		"expired": func(w *world, stream string) error {
			w.server.Faults().Expire(stream)
			return nil
		},
		"finalized": func(w *world, stream string) error {
			_, err := w.client.Finalize(w.t.Context(), stream)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.client.options.Retry.NotFoundBudget = 10 * time.Millisecond
			p := w.start()
			if err := p.step(24); err != nil {
				t.Fatal(err)
			}
			for _, l := range p.writer.lanes {
				if err := end(w, l.stream); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.step(24); err != nil {
				t.Fatal(err)
			}
			w.visible(48)
		})
	}
}

// Rows that are spilled are part of the next flush, and are not visible before.
func TestSpill(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	var freed atomic.Int64 // lanes are freed side by side
	p.writer.OnFreed(func() { freed.Add(1) })
	for _, l := range p.writer.lanes {
		if err := p.writeTo(l, w.batch(p.at, p.at+12, plain)); err != nil {
			t.Fatal(err)
		}
		p.at += 12
	}
	held := p.writer.BufferedBytes()
	if err := p.writer.Spill(t.Context(), held-1); err != nil {
		t.Fatal(err)
	}
	now := p.writer.BufferedBytes()
	if now >= held || now == 0 || freed.Load() == 0 {
		t.Errorf("%d bytes were held, now %d; freed was called %d times", held, now, freed.Load())
	}
	if err := p.writer.Spill(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if now := p.writer.BufferedBytes(); now != 0 {
		t.Errorf("%d bytes are held after all were spilled", now)
	}
	w.visible(0)
	files, err := p.writer.Rotate().Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, f := range files {
		rows += f.Rows
	}
	if rows != 36 || len(files) != 3 {
		t.Errorf("%d rows in %d streams", rows, len(files))
	}
}

// What was spilled and then discarded is never shown, though the streams go on.
func TestDiscard(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	if err := p.step(20); err != nil {
		t.Fatal(err)
	}
	_, flush, err := p.write(20, plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flush.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	flush.Discard()
	if held := p.writer.BufferedBytes(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
	if err := p.restart(); err != nil {
		t.Fatal(err)
	}
	if err := p.step(20); err != nil {
		t.Fatal(err)
	}
	w.visible(40)
}

// A seal that fails may be called again.
func TestSealAgain(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.server.Faults().OnAppend(func(c double.AppendCall) double.Fate {
		if c.N == 5 {
			p.kill()
			return double.LandAndCut()
		}
		return double.Pass()
	})
	sealed, flush, err := p.write(60, plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flush.Seal(p.ctx); err == nil {
		t.Fatal("no error")
	}
	p.ctx = t.Context()
	if sealed.Files, err = flush.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.commit(sealed); err != nil {
		t.Fatal(err)
	}
	w.visible(60)
}

// The server and the encoder refuse rows: the dead letters have them before the seal ends, and the counts add up.
func TestRefusedRows(t *testing.T) {
	text := func(n int64) string {
		if n%7 == 3 {
			return "much too long"
		}
		return "ok"
	}
	for _, mode := range []Mode{ExactlyOnce, AtLeastOnce} {
		w := newWorld(t)
		o := w.small()
		o.Mode = mode
		w.table = tableWith(w.table.GetFields()[0], columnOf("s", shortText.GetType())) // the encoder does not know
		w.rows = recordSchemaOf(t, w.table)
		p := w.startWith(o, w.committer("j"))
		sealed, err := p.seal(21, text)
		if err != nil {
			t.Fatal(err)
		}
		if mode == ExactlyOnce {
			if err := p.commit(sealed); err != nil {
				t.Fatal(err)
			}
		}
		w.visible(21, 3, 10, 17)
		if len(w.refused.durable) != 3 || len(w.refused.waiting) != 0 {
			t.Errorf("mode %d: dead letters: %+v", mode, w.refused.durable)
		}
		for _, r := range w.refused.durable {
			if len(r.Row) == 0 || r.Reason == "" {
				t.Errorf("a dead letter without a row or a reason: %+v", r)
			}
		}
	}
}

func TestEncoderRefusesRows(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	sealed, err := p.seal(9, func(n int64) string { return "longer"[:5+n%2] })
	if err != nil {
		t.Fatal(err)
	}
	if err := p.commit(sealed); err != nil {
		t.Fatal(err)
	}
	w.visible(9, 1, 3, 5, 7)
	if len(w.refused.durable) != 4 || w.refused.durable[0].Field != "s" {
		t.Errorf("%+v", w.refused.durable)
	}
}

func TestRefusedRowsThatCannotBeSetAside(t *testing.T) {
	long := func(int64) string { return "much too long" }
	w := newWorld(t)
	o := w.small()
	o.Refused = nil
	if _, err := w.startWith(o, w.committer("j")).seal(3, long); !errors.Is(err, errRefusing) {
		t.Errorf("%v", err)
	}
	w.refused.fail = errors.New("the disk is full")
	if _, err := w.startWith(w.small(), w.committer("j")).seal(3, long); !errors.Is(err, w.refused.fail) {
		t.Errorf("%v", err)
	}
	w.visible(0)
}
