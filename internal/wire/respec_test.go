package wire

import (
	"fmt"
	"log/slog"
	"testing"

	"firn/internal/table"
)

// The partition spec changes under a job: it goes on with the one that it started with, and takes the new one when it
// is started again. No row is lost or doubled.
func TestJobWhoseTableIsRepartitioned(t *testing.T) {
	kafka := newKafka(t, "respec")
	j := localJob(t, kafka, "respec")
	sendSeqs := func(from, to int) {
		for i := from; i < to; i++ {
			send(t, kafka, "respec", fmt.Sprintf(`{"seq": %d}`, i))
		}
	}
	sendSeqs(0, 20)
	running, err := Open(t.Context(), j, Options{UntilCaughtUp: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	was := mustLoad(t, j)
	changed, err := was.Repartition(t.Context(), []string{"bucket(seq, 16)"})
	if err != nil {
		t.Fatal(err)
	}
	if err := running.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}
	sendSeqs(20, 40)
	runToEnd(t, j)
	rows := map[int]int64{}
	files, err := mustLoad(t, j).Files(t.Context(), table.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		rows[f.SpecID] += f.Rows
	}
	if len(rows) != 2 || rows[was.SpecID()] != 20 || rows[changed.SpecID()] != 20 {
		t.Errorf("rows by spec %v, want 20 of %d and 20 of %d", rows, was.SpecID(), changed.SpecID())
	}
	peeked, err := mustLoad(t, j).Peek(t.Context(), table.PeekOptions{Where: "seq = 7 OR seq = 33"})
	if err != nil || len(peeked.Values) != 2 {
		t.Errorf("rows %s, error %v", peeked.Values, err)
	}
}
