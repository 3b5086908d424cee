package pipeline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"firn/internal/metric"
	"firn/internal/record"
)

// commitEvery cuts and commits every interval, and before its time when asked, until done. Then all that was read by
// then can be committed by one more commitNow. It returns too when the goal is reached. Between commits it makes room
// when memory is short: never beside one, so that a catalog that is slow or away holds the reading back.
func (s *session) commitEvery(ctx context.Context, done <-chan struct{}) error {
	tick := time.NewTicker(s.config.CommitInterval)
	defer tick.Stop()
	for s.goal == nil || !reached(*s.floor.Load(), s.goal) {
		var err error
		select {
		case <-done:
			return nil
		case splits := <-s.found:
			err = s.adopt(ctx, splits)
		case <-s.full:
			err = s.makeRoom(ctx)
		case <-s.early:
			err = s.commitNow(ctx)
		case <-tick.C:
			err = s.commitNow(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// request leaves a request in a channel of capacity 1, unless there is one.
func request(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// makeRoom stores files before the commit that they will be part of. Where that does not help, or fails, there is a
// commit at once: what could not be stored is tried again by it, and its error ends the session.
func (s *session) makeRoom(ctx context.Context) error {
	held := s.config.Writer.BufferedBytes
	if held() <= s.memory.high() { // a commit was faster
		return nil
	}
	err := s.config.Writer.Spill(ctx, s.memory.low())
	s.config.Metrics.Buffered(s.buffered())
	if err == nil && held() <= s.memory.high() {
		return nil
	}
	if err != nil {
		s.config.Metrics.LastError(err)
		s.config.Log.Warn("storing files before their time failed; trying again with a commit", "error", err)
	}
	return s.commitNow(ctx)
}

// reached tells whether the floor has passed the goal everywhere.
func reached(floor, goal record.Floor) bool {
	for topic, t := range goal {
		for partition, end := range t.Next {
			if floor[topic].Next[partition] < end {
				return false
			}
		}
	}
	return true
}

// cutOff ends the interval: no block is half written at that moment.
func (s *session) cutOff() (*interval, Flush) {
	s.cut.Lock()
	defer s.cut.Unlock()
	if s.interval.empty() {
		return nil, nil
	}
	v := s.interval
	s.interval = newInterval()
	return v, s.config.Writer.Rotate()
}

// commitNow makes what was written since the last cut visible: dead letters first, then the files, then the commit,
// then the acknowledgement (invariants 1, 2 and 4). Files that were joined meanwhile go with it.
func (s *session) commitNow(ctx context.Context) error {
	v, flush := s.cutOff()
	replacements := s.replacements()
	if v == nil {
		return s.replaceOnly(ctx, replacements)
	}
	began := time.Now()
	sealed, err := s.seal(ctx, v, flush)
	if err != nil {
		flush.Discard()
		return err
	}
	s.config.Metrics.Buffered(s.buffered())
	outcome, err := s.commit(ctx, []record.Sealed{sealed}, replacements)
	if err != nil {
		return fmt.Errorf("committing %d files: %w", len(sealed.Files), err)
	}
	if slices.Contains(outcome.Rejected, sealed.ID) {
		return restartError("another process of this job moved the table's floor past what this one had read")
	}
	for i := range sealed.Files {
		sealed.Files[i].Lineage = outcome.Lineage[sealed.Files[i].Path]
	}
	s.config.Rollup.Committed(sealed.Files)
	s.setFloor(outcome.Floor)
	s.measure(sealed, outcome, began)
	s.showLag()
	s.shower.show(outcome.Floor)
	return nil
}

// replacements takes what the roll-up has ready, every so often: each time manifests of the files that go are written
// again, so that many are better replaced at once.
func (s *session) replacements() []record.Replacement {
	if now := time.Now(); now.Sub(s.replacedAt) >= s.config.ReplaceInterval {
		if ready := s.config.Rollup.Ready(); len(ready) > 0 {
			s.replacedAt = now
			return ready
		}
	}
	return nil
}

// replaceOnly commits replacements in an interval without records. The floor stays.
func (s *session) replaceOnly(ctx context.Context, replacements []record.Replacement) error {
	if len(replacements) == 0 {
		return nil
	}
	if _, err := s.commit(ctx, nil, replacements); err != nil {
		return fmt.Errorf("committing %d joined files: %w", len(replacements), err)
	}
	return nil
}

// commit tells the roll-up what became of its replacements.
func (s *session) commit(
	ctx context.Context, sealed []record.Sealed, replacements []record.Replacement,
) (Outcome, error) {
	outcome, err := s.config.Committer.Commit(ctx, sealed, replacements)
	if err != nil {
		s.config.Metrics.LastError(err)
		return outcome, err
	}
	s.config.Rollup.Settled(outcome.Replaced, outcome.Stale)
	return outcome, nil
}

// seal makes the rows of an interval durable.
func (s *session) seal(ctx context.Context, v *interval, flush Flush) (record.Sealed, error) {
	ranges, err := v.joined()
	if err != nil {
		return record.Sealed{}, fmt.Errorf("checking the ranges of a flush: %w", err)
	}
	if s.config.DeadLetters != nil {
		if err := s.config.DeadLetters.Flush(ctx); err != nil {
			return record.Sealed{}, fmt.Errorf("storing dead letters: %w", err)
		}
	}
	files, err := flush.Seal(ctx)
	if err != nil {
		return record.Sealed{}, err
	}
	x := record.Sealed{ID: s.config.NewID(), Files: files, Ranges: ranges, Counts: v.counts, Events: v.events}
	floor := *s.floor.Load()
	for _, r := range ranges {
		if n := len(x.Topics); n == 0 || x.Topics[n-1].Topic != r.Topic { // ranges are in order of topic
			x.Topics = append(x.Topics, record.TopicMark{Topic: r.Topic, Identity: floor[r.Topic].Identity})
		}
	}
	var rows int64
	for _, f := range files {
		rows += f.Rows
		x.Counts.Rows -= f.Refused
		x.Counts.Rejected += f.Refused
	}
	if rows != x.Counts.Rows {
		return record.Sealed{}, fmt.Errorf("checking a flush: %d rows were written and its files hold %d",
			x.Counts.Rows, rows)
	}
	return x, nil
}

// measure records a commit that landed.
func (s *session) measure(x record.Sealed, o Outcome, began time.Time) {
	c := metric.Commit{
		SnapshotID: o.SnapshotID, Start: began, Duration: time.Since(began), Rows: x.Counts.Rows,
		Files: int64(len(x.Files)), Attempts: o.Attempts, Conflicts: o.Conflicts, Unknown: o.Unknown,
	}
	for _, f := range x.Files {
		c.FileBytes = append(c.FileBytes, f.SizeBytes)
		c.Bytes += f.SizeBytes
	}
	for _, e := range x.Events {
		c.Events = append(c.Events, metric.Event{UnixMs: e.UnixMs, Count: e.Count})
	}
	s.config.Metrics.Committed(c)
	s.config.Log.Debug("committed", "snapshot", o.SnapshotID, "rows", x.Counts.Rows, "files", len(x.Files),
		"ms", c.Duration.Milliseconds())
}
