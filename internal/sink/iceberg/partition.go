package iceberg

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"firn/internal/record"
)

// partition is the rows of one partition value.
type partition struct {
	generation *generation
	key        string
	value      []record.PartitionValue
	bytes      atomic.Int64            // encoded so far
	lanes      atomic.Pointer[[]*lane] // changed under the generation's lock, to a longer slice
}

// lane is one file after the other of a partition value. Most have one lane, which all workers share; several are
// written at once.
type lane struct {
	partition *partition
	writer    int // whose load the rows count to

	mu   sync.Mutex // guards open and its fields
	open *dataFile  // nil when the next row begins a file
}

// extend makes lanes for the writers that have none. The caller holds the generation's lock.
func (p *partition) extend(writers ...int) {
	lanes := slices.Clip(*p.lanes.Load())
	for _, writer := range writers {
		if !slices.ContainsFunc(lanes, func(l *lane) bool { return l.writer == writer }) {
			lanes = append(lanes, &lane{partition: p, writer: writer})
		}
	}
	p.lanes.Store(&lanes)
}

// append copies rows into an open file of the partition value, or all rows when rows is nil. With wait false it returns
// false and has copied nothing when others write to all files that the worker may.
func (p *partition) append(worker int, columns []record.Column, rows []int32, wait bool) (bool, error) {
	l := p.acquire(worker, wait)
	if l == nil {
		return false, nil
	}
	defer l.mu.Unlock()
	return true, l.append(columns, rows)
}

// acquire locks a lane for a worker: its own where workers share nothing, else that of the writer with the least load,
// or another that is free at once.
func (p *partition) acquire(worker int, wait bool) *lane {
	if p.generation.writer.options.Distribution == DistributionNone {
		own := p.own(worker)
		own.mu.Lock()
		return own
	}
	lanes := *p.lanes.Load()
	first := lanes[0]
	for _, l := range lanes[1:] {
		if l.load() < first.load() {
			first = l
		}
	}
	if first.mu.TryLock() {
		return first
	}
	for _, l := range lanes {
		if l != first && l.mu.TryLock() {
			return l
		}
	}
	if !wait {
		return nil
	}
	first.mu.Lock()
	return first
}

// own is the lane of a worker.
func (p *partition) own(worker int) *lane {
	find := func() *lane {
		lanes := *p.lanes.Load()
		if i := slices.IndexFunc(lanes, func(l *lane) bool { return l.writer == worker }); i >= 0 {
			return lanes[i]
		}
		return nil
	}
	if l := find(); l != nil {
		return l
	}
	p.generation.mu.Lock()
	defer p.generation.mu.Unlock()
	p.extend(worker)
	return find()
}

// load is the bytes that the lane's writer has taken in.
func (l *lane) load() int64 { return l.partition.generation.loads.of(l.writer) }

// append copies rows into the open file. The caller holds the lane's lock.
func (l *lane) append(columns []record.Column, rows []int32) error {
	w := l.partition.generation.writer
	if l.open == nil {
		if err := l.begin(); err != nil {
			return err
		}
	}
	f := l.open
	err := f.rows.Append(columns, rows)
	w.hold(f, w.fileBytes+f.rows.BufferedBytes())
	f.written = w.clock.Load()
	encoded := f.rows.EncodedBytes()
	l.partition.generation.grew(l, encoded-f.encoded)
	f.encoded = encoded
	if encoded >= w.options.FileBytesMax {
		l.close()
	}
	return err
}

// begin opens a file.
func (l *lane) begin() error {
	p := l.partition
	w := p.generation.writer
	path, err := w.target.DataPath(p.value, p.generation.nextName())
	if err != nil {
		return fmt.Errorf("naming a data file: %w", err)
	}
	rows, err := w.files.take()
	if err != nil {
		return err
	}
	l.open = &dataFile{path: path, partition: p.value, rows: rows, begun: w.clock.Load()}
	return nil
}

// close leaves the open file to be stored. The caller holds the lane's lock.
func (l *lane) close() {
	g := l.partition.generation
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = append(g.closed, l.open)
	l.open = nil
}
