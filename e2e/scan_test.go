package e2e

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// scanAllTheTime reads a table of numbered messages in a loop, until the function that it returns is called, which
// gives the number of scans. Each sees every number at most once and all below the highest, and no fewer than the one
// before.
func scanAllTheTime(t *testing.T, q Query) (stop func() int) {
	t.Helper()
	python := interpreter(t, PyIceberg)
	ended := make(chan struct{})
	var scans int
	var loop sync.WaitGroup
	loop.Go(func() {
		var before int64
		for {
			select {
			case <-ended:
				return
			default:
			}
			r, err := run(t, python, PyIceberg, q)
			switch {
			case err != nil && before == 0 && strings.Contains(err.Error(), "NoSuchTable"):
				continue // the job has not made it yet
			case err != nil && t.Context().Err() == nil:
				t.Errorf("scan %d: %v", scans, err)
				return
			case r.Rows != r.Distinct || r.Rows < before:
				t.Errorf("scan %d saw %d rows of %d messages, after %d", scans, r.Rows, r.Distinct, before)
			}
			before = r.Rows
			scans++
		}
	})
	t.Cleanup(loop.Wait)
	var once sync.Once
	return func() int {
		once.Do(func() { close(ended) })
		loop.Wait()
		return scans
	}
}

// mustHaveRolledUp checks that small files were joined and snapshots expired, so that a test of both has tested them.
func mustHaveRolledUp(t *testing.T, binary, jobFile, name string) (rewrites int) {
	t.Helper()
	var snapshots []struct {
		Operation string `json:"operation"`
	}
	out := mustRun(t, binary, "table", "snapshots", name, "--job", jobFile, "--json")
	if err := json.Unmarshal(out, &snapshots); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, s := range snapshots {
		if s.Operation == "replace" {
			rewrites++
		}
	}
	if rewrites == 0 || len(snapshots) > 60 {
		t.Errorf("%d of %d snapshots are roll-ups", rewrites, len(snapshots))
	}
	return rewrites
}
