package upkeep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPick: of files written as "f30" (never joined) and "j30" (joined before) with their sizes, in the order in which
// they became visible, which are joined. The target is 256, so that files below 128 are small.
func TestPick(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"one alone", "f1", ""},
		{"two", "f1 f2", "f1 f2"},
		{"joined before, and much larger", "j100 f1 f1", "f1 f1"},
		{"joined before, and half as much came", "j4 f1 f1", "j4 f1 f1"},
		{"only the small one of those joined before", "j100 j4 f1 f1", "j4 f1 f1"},
		{"a chain, each of which grows by half with the ones before", "j18 j6 f2 j2", "j18 j6 f2 j2"},
		{"many large ones together", "j100 j90 f1", "j100 j90 f1"},
		{"one alone beside a large one", "j100 f1", ""},
		{"small no more", "j120 f8", "j120 f8"},
		{"all of them, when that is no plenty", "f100 f100 f100 j83", "f100 f100 f100 j83"},
		{"the oldest, when there is plenty", "j100 f100 f100 f84", "j100 f100"},
		{"the target, when there is more", "f100 f100 f56 f27 f100 f40", "f100 f100 f56"},
		{"so that enough stays", "f100 f100 f100 f1 f100", "f100 f100"},
	} {
		b := newBacklog(policy{target: 256, ageMax: time.Minute}, knownBytesMax)
		for i, word := range strings.Fields(c.files) {
			var bytes int64
			if _, err := fmt.Sscan(word[1:], &bytes); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s/%d.parquet", word, i)
			if word[0] == 'j' {
				name = fmt.Sprintf("%s/%d%s", word, i, suffix)
			}
			put(b, 1, name, bytes, at(time.Duration(i)))
		}
		parts, _ := b.next(at(time.Hour))
		var got []string
		for _, p := range parts {
			word, _, _ := strings.Cut(p.path, "/")
			got = append(got, word)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: of %s came %q, want %q", c.name, c.files, s, c.want)
		}
	}
}

func TestDue(t *testing.T) {
	for _, c := range []struct {
		name    string
		ageMax  time.Duration
		sizes   []int64
		after   time.Duration
		pressed bool
		want    bool
	}{
		{"young and small", time.Minute, []int64{1, 1}, 59 * time.Second, false, false},
		{"old and small", time.Minute, []int64{1, 1}, time.Minute, false, true},
		{"old and small, and no age limit", 0, []int64{1, 1}, 1000 * time.Hour, false, false},
		{"the target", time.Minute, []int64{40, 40, 20}, 0, false, false},
		{"plenty", time.Minute, []int64{40, 40, 40, 30}, 0, false, true},
		{"the target, and no age limit", 0, []int64{40, 40, 20}, 0, false, true},
		{"all but the target, and no age limit", 0, []int64{40, 40, 19}, 0, false, false},
		{"memory is short", 0, slices.Repeat([]int64{1}, pressedMin), 0, true, true},
		{"memory is short, and these few do not help", 0, slices.Repeat([]int64{1}, pressedMin-1), 0, true, false},
	} {
		b := newBacklog(policy{target: 100, ageMax: c.ageMax}, knownBytesMax)
		for i, bytes := range c.sizes {
			put(b, 1, fmt.Sprint(i), bytes, at(0))
		}
		for _, g := range b.groups {
			if due, _ := b.policy.due(g, at(c.after), c.pressed); due != c.want {
				t.Errorf("%s: %t", c.name, due)
			}
		}
	}
}

// A join takes no more than partsMax files, and what is left is joined next.
func TestPickManyFiles(t *testing.T) {
	b := newBacklog(policy{target: 1 << 40, ageMax: time.Minute}, knownBytesMax)
	for i := range 2*partsMax + 10 {
		put(b, 1, fmt.Sprintf("%05d", i), 1, at(time.Duration(i)))
	}
	var sizes []int
	for {
		parts, _ := b.next(at(time.Hour))
		if parts == nil {
			break
		}
		sizes = append(sizes, len(parts))
	}
	if !slices.Equal(sizes, []int{partsMax, partsMax, 10}) {
		t.Errorf("joins of %v files", sizes)
	}
}

// Files together with which a join failed are tried in halves.
func TestPickWithinLimits(t *testing.T) {
	b := newBacklog(policy{target: 1000, ageMax: time.Minute}, knownBytesMax)
	for i := range 9 {
		put(b, 1, fmt.Sprint(i), 1, at(time.Duration(i))).limit = 4
	}
	mustNext(t, b, time.Hour, "0", "1", "2", "3")
	mustNext(t, b, time.Hour, "4", "5", "6", "7")
	mustNext(t, b, time.Hour)
}

// traffic is one partition's files: bytes written in each second of a day.
type traffic struct {
	name  string
	bytes func(second int) int64
	// full says that the partition gets half of the target within the age limit, whenever it gets rows, so that nearly
	// all of its bytes are to be in files that are not small.
	full bool
	// copies is the most that a byte may be copied, and amplification the most on average.
	copies        int
	amplification float64
}

func everySecond(bytes int64) func(int) int64 { return func(int) int64 { return bytes } }

// during has bytes come in the first seconds of each period.
func during(seconds, period int, bytes int64) func(int) int64 {
	return func(s int) int64 {
		if s%period < seconds {
			return bytes
		}
		return 0
	}
}

func dayTraffic() []traffic {
	random := rand.New(rand.NewPCG(1, 2))
	return []traffic{
		{"1.5 MB/s", everySecond(1500 * kB), true, 1, 1},
		{"300 KB/s", everySecond(300 * kB), true, 1, 1},
		{"250 KB/s, at random", func(int) int64 { return random.Int64N(500 * kB) }, true, 1, 1},
		{"100 KB/s", everySecond(100 * kB), false, 3, 2.1},
		{"10 KB/s", everySecond(10 * kB), false, 9, 5},
		{"1 KB/s", everySecond(kB), false, 14, 7},
		{"5 KB each 20 minutes", during(1, 1200, 5*kB), false, 16, 5},
		{"a burst of 300 MB each hour", during(30, 3600, 10*mB), true, 1, 1},
		{"a burst of 20 MB every third hour", during(20, 3*3600, mB), false, 6, 4},
		{"20 MB in one second each hour", during(1, 3600, 20*mB), false, 6, 4},
		{"at random, and seldom", func(int) int64 {
			if random.IntN(500) > 0 {
				return 0
			}
			return 1 << random.IntN(24)
		}, false, 16, 6},
	}
}

// day is a day of a partition, with a clock of its own.
type day struct {
	traffic
	*backlog
	ingested, copied int64
	copiesMax        int
	firstMin         int64          // size of the smallest first join
	copies           map[string]int // of each live file
	made             int
}

// TestADay runs the traffic of partitions for a day, joins what the policy says at once, and holds it to its promises:
// how often bytes are copied, how many files there are, and how many bytes are in files that are not small.
func TestADay(t *testing.T) {
	for _, c := range dayTraffic() {
		t.Run(c.name, func(t *testing.T) {
			y := policy{target: 256 * mB, ageMax: 10 * time.Minute}
			d := &day{traffic: c, backlog: newBacklog(y, knownBytesMax), copies: map[string]int{}}
			d.firstMin = math.MaxInt64
			large := int64(0)
			for s := range 24 * 3600 {
				now := at(time.Duration(s) * time.Second)
				if bytes := c.bytes(s); bytes > 0 {
					d.ingested += bytes
					d.learn(fmt.Sprintf("%d.parquet", s), bytes, now, 0)
				}
				for parts, _ := d.next(now); parts != nil; parts, _ = d.next(now) {
					large += d.join(parts, s)
				}
				if s%60 == 59 {
					d.check(t, now, large)
				}
			}
			mean := float64(d.copied) / float64(d.ingested)
			t.Logf("%d MB: bytes are copied %.2f times, %d at most; %d files made, %d small ones at the end",
				d.ingested/mB, mean, d.copiesMax, d.made, len(d.parts))
			grows := math.Log(float64(y.smallMax())/float64(d.firstMin)) / math.Log(1.5)
			if promised := 1 + int(math.Ceil(max(0, grows))); d.copiesMax > promised {
				t.Errorf("bytes are copied %d times at most, %d are promised", d.copiesMax, promised)
			}
			if d.copiesMax > c.copies || mean > c.amplification {
				t.Errorf("bytes are copied %d times at most, %.2f on average; want %d and %.2f", d.copiesMax, mean, c.copies,
					c.amplification)
			}
		})
	}
}

func (d *day) learn(name string, bytes int64, since time.Time, copies int) {
	if bytes < d.policy.smallMax() {
		put(d.backlog, 1, name, bytes, since)
		d.copies[name] = copies
	}
}

// join joins files, and gives the bytes of the result when it leaves the backlog.
func (d *day) join(parts []*part, second int) (large int64) {
	var bytes int64
	copies := 0
	for _, p := range parts {
		bytes += p.bytes
		copies = max(copies, d.copies[p.path])
		delete(d.copies, p.path)
	}
	d.forget(parts)
	d.made++
	d.copied += bytes
	d.copiesMax = max(d.copiesMax, copies+1)
	if copies == 0 {
		d.firstMin = min(d.firstMin, bytes)
	}
	d.learn(fmt.Sprintf("%d-%d%s", second, d.made, suffix), bytes, parts[0].since, copies+1)
	if bytes >= d.policy.smallMax() {
		return bytes
	}
	return 0
}

// check holds the files of a moment against the promises.
func (d *day) check(t *testing.T, now time.Time, large int64) {
	t.Helper()
	old, smallest, poor := 0, int64(math.MaxInt64), int64(0)
	for _, p := range d.parts {
		if p.fresh && now.Sub(p.since) < 15*time.Minute {
			continue
		}
		old++
		smallest = min(smallest, p.bytes)
		if p.bytes < d.policy.smallMax() {
			poor += p.bytes
		} else {
			large += p.bytes
		}
	}
	if old == 0 {
		return
	}
	filesMax := 2 + math.Log(float64(d.policy.smallMax())/float64(2*smallest))/math.Log(3)
	if float64(old) > filesMax {
		t.Fatalf("after %s: %d small files, want %.1f at most", now.Sub(b0), old, filesMax)
	}
	if d.full && float64(large) < 0.99*float64(large+poor) {
		t.Fatalf("after %s: %d MB of %d MB are in files that are not small", now.Sub(b0), large/mB, (large+poor)/mB)
	}
}
