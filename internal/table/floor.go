package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"firn/internal/record"

	icebergtable "github.com/apache/iceberg-go/table"
)

// mainBranch is the branch that every reader sees.
const mainBranch = icebergtable.MainBranch

var jobName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// Keys of the summary of a snapshot that job made, all with JSON but the last:
//
//	offsets  the floor: topic to cluster, topic_id and next, which is partition to offset
//	ranges   what the snapshot added: topic to partition to pairs of from and to
//	counts   what became of the offsets of those ranges: see record.Counts
//	sealed   the ids of the flushes, with commas between
//
// The first is a table property too: see mirror.
func offsetsKey(job string) string { return "firn." + job + ".offsets" }
func rangesKey(job string) string  { return "firn." + job + ".ranges" }
func countsKey(job string) string  { return "firn." + job + ".counts" }
func sealedKey(job string) string  { return "firn." + job + ".sealed" }

// mirror is the copy of a floor in a table property. It is set in the same commit as the snapshot that it names, and
// matters only once that snapshot has been expired and no snapshot with the floor is left.
type mirror struct {
	Table    string       `json:"table"` // UUID: a property may have been copied to another table
	Floor    record.Floor `json:"floor"`
	Snapshot int64        `json:"snapshot"`
	Sequence int64        `json:"sequence"` // sequence number of the snapshot
}

// standing is how far a job has got in one version of a table.
type standing struct {
	floor record.Floor
	lost  record.Floor // what the table once held, when it was rolled back behind it; else nil
}

// ErrFloorUnknown says that the metadata no longer tells what of the source is in the table.
var ErrFloorUnknown = errors.New("the table no longer says how far the job got")

// ancestors yields the head of the main branch, its parent, and so on as far as the metadata goes.
func ancestors(m icebergtable.Metadata) iter.Seq[*icebergtable.Snapshot] {
	return func(yield func(*icebergtable.Snapshot) bool) {
		seen := make(map[int64]bool) // guards against metadata in which a snapshot descends from itself
		for s := m.SnapshotByName(mainBranch); s != nil && !seen[s.SnapshotID] && yield(s); {
			if s.ParentSnapshotID == nil {
				return
			}
			seen[s.SnapshotID] = true
			s = m.SnapshotByID(*s.ParentSnapshotID)
		}
	}
}

// summary is a snapshot's summary value, or "".
func summary(s *icebergtable.Snapshot, key string) string {
	if s.Summary == nil {
		return ""
	}
	return s.Summary.Properties[key]
}

// stand finds the floor of a job: on the newest ancestor of the head that carries it, since other writers and
// compaction put snapshots on top; else in the mirror. The mirror counts only when the snapshot that it names is gone:
// if that one still exists and is no ancestor, the table was rolled back, and what the rollback left is right.
func stand(m icebergtable.Metadata, job string) (standing, error) {
	copied, err := readMirror(m, job)
	if err != nil {
		return standing{}, err
	}
	var oldest *icebergtable.Snapshot
	for s := range ancestors(m) {
		if text := summary(s, offsetsKey(job)); text != "" {
			floor, err := parseFloor(text)
			if err != nil {
				return standing{}, fmt.Errorf("reading %s of snapshot %d: %w", offsetsKey(job), s.SnapshotID, err)
			}
			return standing{floor: floor, lost: copied.lostBehind(s)}, nil
		}
		oldest = s
	}
	if copied == nil {
		return standing{floor: record.Floor{}}, nil
	}
	return standByMirror(m, copied, oldest)
}

// standByMirror decides when no ancestor has a floor but a mirror exists. oldest is the last ancestor that the
// metadata still has, nil for a table without a head.
func standByMirror(m icebergtable.Metadata, c *mirror, oldest *icebergtable.Snapshot) (standing, error) {
	rolledBack := oldest == nil || m.SnapshotByID(c.Snapshot) != nil || oldest.SequenceNumber < c.Sequence
	if !rolledBack {
		return standing{floor: c.Floor.Clone()}, nil
	}
	if oldest == nil || oldest.ParentSnapshotID == nil { // the whole history is there, and the job is not in it
		return standing{floor: record.Floor{}, lost: c.Floor}, nil
	}
	return standing{}, fmt.Errorf("%w: it was rolled back behind snapshot %d, and the older snapshots that would tell "+
		"have expired: give the job another name, and start it where the table's rows end", ErrFloorUnknown, c.Snapshot)
}

// lostBehind is the mirror's floor when s, the newest ancestor with a floor, is older than the mirror: the mirror is
// set with every floor, so a snapshot between the two was taken out of the history.
func (c *mirror) lostBehind(s *icebergtable.Snapshot) record.Floor {
	if c == nil || c.Snapshot == s.SnapshotID || c.Sequence <= s.SequenceNumber {
		return nil
	}
	return c.Floor
}

// readMirror is nil when there is none, or it is about another table.
func readMirror(m icebergtable.Metadata, job string) (*mirror, error) {
	text := m.Properties()[offsetsKey(job)]
	if text == "" {
		return nil, nil
	}
	var c mirror
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("reading table property %s: %w", offsetsKey(job), err)
	}
	if c.Table != m.TableUUID().String() {
		return nil, nil
	}
	if err := checkFloor(c.Floor); err != nil {
		return nil, fmt.Errorf("reading table property %s: %w", offsetsKey(job), err)
	}
	return &c, nil
}

func parseFloor(text string) (record.Floor, error) {
	var f record.Floor
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, err
	}
	return f, checkFloor(f)
}

func checkFloor(f record.Floor) error {
	if f == nil {
		return errors.New("it is null")
	}
	for topic, t := range f {
		for p, next := range t.Next {
			if p < 0 || next < 0 {
				return fmt.Errorf("partition %d of topic %s stands at offset %d", p, topic, next)
			}
		}
	}
	return nil
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		// Only floors, ranges and counts come here: maps of numbers and strings, which always marshal.
		panic(fmt.Sprintf("table: marshalling %T: %v", v, err))
	}
	return string(b)
}

// sealedIn tells which of the flushes are in the history of the table already, and the newest snapshot that holds one.
func sealedIn(m icebergtable.Metadata, job string, wanted map[string]bool) (map[string]bool, int64) {
	found := make(map[string]bool)
	var newest int64
	for s := range ancestors(m) {
		for id := range strings.SplitSeq(summary(s, sealedKey(job)), ",") {
			if wanted[id] && !found[id] {
				found[id] = true
				if newest == 0 {
					newest = s.SnapshotID
				}
			}
		}
		if len(found) == len(wanted) {
			break
		}
	}
	return found, newest
}

// FloorKeys is the summary entries that a snapshot of firn's own that moves no floor, such as a compaction, has to
// repeat: the newest floor of each job, so that expiry of older snapshots cannot lose one.
func (t *Table) FloorKeys() map[string]string {
	keys := make(map[string]string)
	for s := range ancestors(t.inner.Metadata()) {
		if s.Summary == nil {
			continue
		}
		for key, value := range s.Summary.Properties {
			if _, newer := keys[key]; !newer && strings.HasPrefix(key, "firn.") && strings.HasSuffix(key, ".offsets") {
				keys[key] = value
			}
		}
	}
	return keys
}
