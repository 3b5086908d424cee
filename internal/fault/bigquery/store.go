package bigquery

import (
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// Append is one request that was stored.
type Append struct {
	Stream string
	// Offset is the first row's; -1 on a default stream.
	Offset int64
	Rows   []Row
	// TraceID is the one of the connection.
	TraceID string
}

// Log is a table's appends in the order in which they were stored, visible or not.
type Log []Append

// Check looks for a gap or a duplicate: the offsets of each stream must follow each other from 0. The server sees to it
// itself; a test that asserts it asserts that of the server too.
func (l Log) Check() error {
	ends := make(map[string]int64)
	for i, a := range l {
		if a.Offset < 0 {
			continue
		}
		if end := ends[a.Stream]; a.Offset != end {
			return fmt.Errorf("append %d to %s is at offset %d, where the stream ended at %d", i, a.Stream, a.Offset, end)
		}
		ends[a.Stream] += int64(len(a.Rows))
	}
	return nil
}

// Count is what was stored in a table, visible or not.
type Count struct {
	Rows, Bytes, Requests int64 // bytes are those of the rows as they were encoded
	// Sum is the sum of Checksum over the rows, in whatever order they came.
	Sum uint64
}

// Checksum is what a row as it was encoded adds to Count.Sum. CRCs alone would add up to the same for other rows too
// easily, so that their bits are mixed as MurmurHash3 does at its end.
func Checksum(row []byte) uint64 {
	h := uint64(crc32.Checksum(row, castagnoli))<<32 | uint64(len(row))
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// table is a table with what was written to it. Its fields are guarded by mu, but for name.
type table struct {
	name string // projects/p/datasets/d/tables/t

	mu       sync.Mutex
	resource map[string]any // as REST shows it
	columns  []*column      // never changed, but replaced
	version  int64          // of columns, from 1
	changes  int64          // of resource, from 1
	keys     []string       // of the primary key
	log      Log
	visible  []stored
	count    Count
	hidden   int // calls that do not find it yet
	deleted  bool
	made     time.Time
	modified time.Time
}

// schema is the columns at hand and their version.
func (t *table) schema() (columns []*column, keys []string, version int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns, t.keys, t.version
}

// store adds an append to the log, and its rows to those to be seen.
func (t *table) store(a Append, rows []stored, visible bool, count Count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.Rows += count.Rows
	t.count.Bytes += count.Bytes
	t.count.Requests++
	t.count.Sum += count.Sum
	if rows == nil {
		return
	}
	t.log = append(t.log, a)
	if visible {
		t.visible = append(t.visible, rows...)
	}
}

func (t *table) show(rows []stored) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.visible = append(t.visible, rows...)
}

// rows is what a query sees: all that is visible, and of the changes to a key the last one.
func (t *table) rows() []Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	return latest(t.visible, t.keys)
}

// latest applies changes. A later one by its sequence number, or by its arrival where numbers are the same or missing,
// replaces the row of its key; a deleted key remembers its number.
func latest(visible []stored, keys []string) []Row {
	last := make(map[string]int) // key to place in out
	var out []stored
	for _, s := range visible {
		if len(keys) == 0 {
			out = append(out, s)
			continue
		}
		key := keyOf(s.row, keys)
		at, known := last[key]
		switch {
		case s.change == "" || !known:
			last[key] = len(out)
			out = append(out, s)
		case compareSequences(s.sequence, out[at].sequence) >= 0:
			out[at] = s
		}
	}
	rows := make([]Row, 0, len(out))
	for _, s := range out {
		if s.change != "DELETE" {
			rows = append(rows, s.row)
		}
	}
	return rows
}

func keyOf(row Row, keys []string) string {
	var key []byte
	for _, k := range keys {
		key = fmt.Appendf(key, "%q|", fmt.Sprint(row[k]))
	}
	return string(key)
}

// stream is a write stream. Its fields from mu on are guarded by it; mu comes before the table's.
type stream struct {
	name    string
	table   *table
	kind    storagepb.WriteStream_Type
	created time.Time
	// preset says that it is the table's _default.
	preset bool

	mu        sync.Mutex
	end       int64 // rows
	flushed   int64 // rows of a BUFFERED stream to be seen
	rows      []stored
	finalized bool
	expired   bool
	committed time.Time
	owner     *connection
}
