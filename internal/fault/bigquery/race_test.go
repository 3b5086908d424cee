package bigquery

import (
	"errors"
	"io"
	"sync"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// pour appends rows one by one without offsets until it is refused, and returns how many were accepted.
func pour(a *appending, stream string) (rows int64) {
	for {
		err := a.rpc.Send(appendRequest(stream, -1, plainWriter(), plainRow(rows, "a")))
		if err != nil && !errors.Is(err, io.EOF) {
			a.t.Error(err)
			return rows
		}
		answer, err := a.rpc.Recv()
		if err != nil || answer.GetError() != nil {
			return rows
		}
		rows++
	}
}

// TestFinalizeAgainstAppends finalizes streams that connections fight over: what it counts is what was accepted, and
// what the table has.
func TestFinalizeAgainstAppends(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	var total int64
	for range 20 {
		stream := d.create(table, committed)
		var accepted [3]int64
		var pouring sync.WaitGroup
		for i := range accepted {
			a := d.open()
			pouring.Go(func() { accepted[i] = pour(a, stream) })
		}
		before := d.Count(table).Rows
		d.waitFor(func() bool { return d.Count(table).Rows > before+5 })
		n := d.finalize(stream)
		pouring.Wait()
		// A connection that was ended for another one may have lost an answer, so that what was accepted is the least.
		sum := accepted[0] + accepted[1] + accepted[2]
		if n < sum || n > sum+int64(len(accepted)) {
			t.Errorf("finalized with %d rows, accepted were %v", n, accepted)
		}
		if again := d.finalize(stream); again != n {
			t.Errorf("finalized again with %d rows, before with %d", again, n)
		}
		total += n
	}
	if got := int64(len(d.Rows(table))); got != total {
		t.Errorf("%d rows are visible, want %d", got, total)
	}
	if err := d.Log(table).Check(); err != nil {
		t.Error(err)
	}
}

// TestCommitsOfTheSameStreams has one of the commits that name the same streams in another order succeed.
func TestCommitsOfTheSameStreams(t *testing.T) {
	d := start(t, Options{})
	table := d.table("t", plain, "")
	var streams []string
	for range 4 {
		stream := d.create(table, pending)
		accepted(t, d.open().append(appendRequest(stream, 0, plainWriter(), plainRow(1, "a"))), 0)
		d.finalize(stream)
		streams = append(streams, stream)
	}
	var committing sync.WaitGroup
	done := make(chan bool, len(streams))
	for i := range streams {
		committing.Go(func() {
			answer, err := d.api.BatchCommitWriteStreams(t.Context(), &storagepb.BatchCommitWriteStreamsRequest{
				Parent: table, WriteStreams: append(append([]string{}, streams[i:]...), streams[:i]...),
			})
			if err != nil {
				t.Error(err)
			}
			done <- answer.GetCommitTime() != nil
		})
	}
	committing.Wait()
	close(done)
	n := 0
	for ok := range done {
		if ok {
			n++
		}
	}
	if rows := len(d.Rows(table)); n != 1 || rows != len(streams) {
		t.Errorf("%d commits succeeded and %d rows are visible, want 1 and %d", n, rows, len(streams))
	}
}
