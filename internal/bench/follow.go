package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// followed is what was seen of a process that fills a table.
type followed struct {
	commits []seen // that added rows, in order
	peakMiB float64
}

// followTick is how exactly the moment of a commit is known.
const followTick = 250 * time.Millisecond

// follow watches a process and the table that it fills until the rows are there, ctx ends or the process does. The
// table is in a hadoop catalog; its folder need not exist yet.
func follow(ctx context.Context, pid int, table string, rows int64, ended <-chan struct{}) (followed, error) {
	var f followed
	began := time.Now()
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	for {
		if err := f.look(pid, table, time.Since(began)); err != nil {
			return f, err
		}
		if n := len(f.commits); n > 0 && f.commits[n-1].rows >= rows {
			return f, nil
		}
		select {
		case <-tick.C:
		case <-ended:
			return f, errors.New("the process ended before all was committed")
		case <-ctx.Done():
			return f, context.Cause(ctx)
		}
	}
}

func (f *followed) look(pid int, table string, since time.Duration) error {
	cpu, err := processCPU(pid)
	if err != nil {
		return err
	}
	status := readProc(fmt.Sprintf("/proc/%d/status", pid))
	if kb, ok := strings.CutSuffix(procField(status, "VmHWM"), " kB"); ok {
		if n, err := strconv.ParseFloat(kb, 64); err == nil {
			f.peakMiB = max(f.peakMiB, n/1024)
		}
	}
	rows, err := tableRows(table)
	if err != nil {
		return err
	}
	var before int64
	if n := len(f.commits); n > 0 {
		before = f.commits[n-1].rows
	}
	if rows > before {
		f.commits = append(f.commits, seen{since, cpu, rows})
	}
	return nil
}

// processCPU is the user and system time of a process, from Linux's /proc (proc_pid_stat(5)).
func processCPU(pid int) (time.Duration, error) {
	_, fields, ok := strings.Cut(readProc(fmt.Sprintf("/proc/%d/stat", pid)), ") ") // behind the name
	parts := strings.Fields(fields)
	const user, system, ticksPerSecond = 11, 12, 100 // USER_HZ, which is 100 on every port that Go runs on
	if !ok || len(parts) <= system {
		return 0, fmt.Errorf("the system does not say how much CPU time process %d took", pid)
	}
	var ticks int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// tableRows is the number of rows of the table in a folder of a hadoop catalog, 0 when there is none yet.
func tableRows(table string) (int64, error) {
	files, err := filepath.Glob(filepath.Join(table, "metadata", "v*.metadata.json"))
	if err != nil {
		return 0, fmt.Errorf("looking for the table: %w", err)
	}
	if len(files) == 0 {
		return 0, nil
	}
	text, err := os.ReadFile(slices.MaxFunc(files, func(a, b string) int { return cmp.Compare(version(a), version(b)) }))
	if err != nil {
		return 0, fmt.Errorf("reading the table: %w", err)
	}
	var metadata struct {
		Current   int64 `json:"current-snapshot-id"`
		Snapshots []struct {
			ID      int64             `json:"snapshot-id"`
			Summary map[string]string `json:"summary"`
		} `json:"snapshots"`
	}
	if err := json.Unmarshal(text, &metadata); err != nil {
		return 0, nil // it is being written
	}
	for _, s := range metadata.Snapshots {
		if s.ID == metadata.Current {
			rows, err := strconv.ParseInt(s.Summary["total-records"], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading the rows of the table: %w", err)
			}
			return rows, nil
		}
	}
	return 0, nil
}

// version is the number in the name of a metadata file, vN.metadata.json.
func version(path string) int {
	name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "v"), ".")
	n, _ := strconv.Atoi(name) // another file is of version 0
	return n
}
