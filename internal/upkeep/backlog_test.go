package upkeep

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"firn/internal/record"
)

// b0 is when the times of a backlog begin.
var b0 = time.Unix(1_800_000_000, 0).UTC()

func at(d time.Duration) time.Time { return b0.Add(d) }

// fileOf is a file of a partition and a size.
func fileOf(partition byte, path string, bytes int64) record.DataFile {
	return record.DataFile{Path: path, Partition: inPartition(partition), SizeBytes: bytes, Rows: 1}
}

func put(b *backlog, partition byte, path string, bytes int64, since time.Time) *part {
	f := fileOf(partition, path, bytes)
	b.add(&f, pack(&f), since)
	return b.parts[path]
}

// mustNext checks the paths that are joined next, with blanks between.
func mustNext(t *testing.T, b *backlog, now time.Duration, want ...string) []*part {
	t.Helper()
	parts, _ := b.next(at(now))
	if d := cmp.Diff(want, paths(parts), cmp.Transformer("", func(s []string) string { return fmt.Sprint(s) })); d != "" {
		t.Errorf("joined after %s (-want +got):\n%s", now, d)
	}
	return parts
}

func TestNextByUrgency(t *testing.T) {
	b := newBacklog(policy{target: 100, ageMax: time.Minute}, knownBytesMax)
	for i, partition := range []byte{1, 1, 2, 2, 2, 3, 3} {
		put(b, partition, fmt.Sprint("f", i), 10, at(time.Duration(7-i)*time.Second))
	}
	mustNext(t, b, time.Minute-time.Nanosecond)
	mustNext(t, b, time.Hour, "f4", "f3", "f2") // most files
	mustNext(t, b, time.Hour, "f6", "f5")       // the oldest
	mustNext(t, b, time.Hour, "f1", "f0")
	mustNext(t, b, time.Hour)
}

func TestNextSaysWhen(t *testing.T) {
	b := newBacklog(policy{target: 100, ageMax: time.Minute}, knownBytesMax)
	when := func(now time.Duration) time.Time {
		parts, again := b.next(at(now))
		if parts != nil {
			t.Fatalf("joined %v", paths(parts))
		}
		return again
	}
	if again := when(0); !again.IsZero() {
		t.Errorf("empty: %s", again)
	}
	put(b, 1, "a", 10, at(5*time.Second))
	put(b, 2, "b", 10, at(3*time.Second))
	if again := when(0); !again.Equal(at(63 * time.Second)) {
		t.Errorf("two groups: %s", again)
	}
	if again := when(63 * time.Second); !again.Equal(at(65 * time.Second)) {
		t.Errorf("b came alone, its turn is over: %s", again)
	}
	put(b, 2, "c", 10, at(70*time.Second))
	parts := mustNext(t, b, 130*time.Second, "b", "c")
	b.lay(parts[0], at(200*time.Second))
	b.lay(parts[1], at(300*time.Second))
	if again := when(140 * time.Second); !again.Equal(at(200 * time.Second)) {
		t.Errorf("resting: %s", again)
	}
	mustNext(t, b, 250*time.Second)
	mustNext(t, b, 300*time.Second, "b", "c")
}

// What is suspect waits for a look, however long it takes.
func TestSuspectsWait(t *testing.T) {
	b := newBacklog(policy{target: 100, ageMax: time.Minute}, knownBytesMax)
	put(b, 1, "a", 10, at(0))
	put(b, 1, "b", 10, at(0))
	parts := mustNext(t, b, time.Hour, "a", "b")
	for _, p := range parts {
		p.suspect = 1
		b.lay(p, at(0))
	}
	mustNext(t, b, 2*time.Hour)
	for _, p := range parts {
		p.suspect = 0
	}
	mustNext(t, b, 2*time.Hour, "a", "b")
}

func TestPressure(t *testing.T) {
	f := fileOf(1, "xx", 1)
	one := (&part{path: "xx", said: pack(&f)}).held()
	b := newBacklog(policy{target: 1000}, 40*one)
	for i := range 50 {
		put(b, 1, fmt.Sprintf("%02d", i), 1, at(0))
	}
	if !b.cut || len(b.parts) != 40 || b.packedBytes != 40*one {
		t.Fatalf("%d parts of %d bytes, cut %t", len(b.parts), b.packedBytes, b.cut)
	}
	parts, _ := b.next(at(0))
	if len(parts) != 40 {
		t.Errorf("joined %d", len(parts))
	}
	b.forget(parts)
	if b.packedBytes != 0 || len(b.groups) != 0 {
		t.Errorf("%d bytes and %d groups are left", b.packedBytes, len(b.groups))
	}
}

// The sums of a backlog stay right, and no part gets lost, whatever happens to it.
func TestBacklogSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBacklog(policy{target: 100, ageMax: time.Minute}, knownBytesMax)
		now, made := 0*time.Second, 0
		var busy [][]*part
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				made++
				name := fmt.Sprint(made, rapid.SampledFrom([]string{".parquet", suffix}).Draw(t, "suffix"))
				put(b, rapid.Byte().Draw(t, "partition")%3, name, rapid.Int64Range(1, 49).Draw(t, "bytes"), at(now))
			},
			"pass": func(t *rapid.T) { now += time.Duration(rapid.IntRange(1, 50).Draw(t, "s")) * time.Second },
			"next": func(*rapid.T) {
				if parts, _ := b.next(at(now)); parts != nil {
					busy = append(busy, parts)
				}
			},
			"end": func(t *rapid.T) {
				if len(busy) == 0 {
					t.Skip("nothing is being joined")
				}
				parts := busy[0]
				busy = busy[1:]
				switch rapid.IntRange(0, 2).Draw(t, "how") {
				case 0:
					b.putBack(parts)
				case 1:
					for _, p := range parts {
						b.lay(p, at(now+time.Minute))
					}
				default:
					b.forget(parts)
				}
			},
			"lose": func(*rapid.T) {
				for _, p := range b.parts {
					b.forget([]*part{p})
					return
				}
			},
			"": func(t *rapid.T) { checkSums(t, b) },
		})
	})
}

func checkSums(t *rapid.T, b *backlog) {
	waiters, held := 0, int64(0)
	for _, g := range b.groups {
		fresh, bytes := 0, int64(0)
		for _, p := range g.waiting {
			waiters++
			if p.state != waiting || p.group != g || b.parts[p.path] != p {
				t.Fatalf("%s waits in state %d", p.path, p.state)
			}
			if p.fresh {
				fresh++
			}
			bytes += p.bytes
		}
		if fresh != g.fresh || bytes != g.bytes {
			t.Fatalf("group has %d fresh and %d bytes, says %d and %d", fresh, bytes, g.fresh, g.bytes)
		}
		if !slices.IsSortedFunc(g.waiting, func(a, b *part) int { return a.since.Compare(b.since) }) {
			t.Fatal("parts are out of order")
		}
	}
	known := map[*group]int{}
	for _, p := range b.parts {
		known[p.group]++
		held += p.held()
		switch p.state {
		case waiting:
			waiters--
		case resting:
			if !slices.Contains(b.rested, p) {
				t.Fatalf("%s rests for ever", p.path)
			}
		case taken, gone:
		}
		if p.state == gone {
			t.Fatalf("%s is gone and known", p.path)
		}
	}
	for g, n := range known {
		if g.known != n || b.groups[g.key] != g {
			t.Fatalf("group knows %d parts, has %d", g.known, n)
		}
	}
	if waiters != 0 || held != b.packedBytes || len(known) != len(b.groups) {
		t.Fatalf("%d parts wait unseen, %d bytes are held and %d counted, %d groups of %d", -waiters, held, b.packedBytes,
			len(known), len(b.groups))
	}
}
