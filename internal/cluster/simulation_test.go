package cluster

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"firn/internal/record"
)

// The simulation: replicas that seal, crash and go on as zombies, committers on stale heads, messages that come late
// or twice, commits whose reply is lost and that land later. After every step the table must hold each offset below
// its floor exactly once and none above.

const (
	simPartitions = 3
	simEnd        = 40 // offsets in each partition
	simSteps      = 6000
)

type simHead struct {
	version int
	floor   record.Floor
	from    int // position in the log folded into floor
	files   []record.Sealed
}

type simReplica struct {
	owns   [simPartitions]bool
	next   [simPartitions]int64
	outbox []record.Sealed
	base   *simHead
}

type sim struct {
	rand     *rand.Rand
	head     simHead
	log      []record.Sealed
	replicas [3]simReplica
	late     []func()
	sealed   int
	fold     func(record.Floor, []record.Sealed) (record.Floor, []int)
	rebase   bool // the mutant that re-appends the same files on a new head
}

func newSim(seed uint64) *sim {
	start := floorAt(here, map[int32]int64{0: 0, 1: 0, 2: 0})
	return &sim{rand: rand.New(rand.NewPCG(seed, 7)), head: simHead{floor: start}, fold: Fold}
}

func (s *sim) frontier() record.Floor {
	next, _ := s.fold(s.head.floor, s.log[s.head.from:])
	return next
}

func simTP(p int) record.TopicPartition {
	return record.TopicPartition{Topic: "orders", Partition: int32(p)}
}

func (s *sim) takePartition(r *simReplica) {
	p := s.rand.IntN(simPartitions)
	if s.rand.IntN(2) == 0 { // else the old owner does not notice: a zombie
		for i := range s.replicas {
			s.replicas[i].owns[p] = false
		}
	}
	r.owns[p] = true
	r.next[p], _ = s.frontier().Next(simTP(p))
}

func (s *sim) seal(r *simReplica) {
	var ranges []record.Range
	for p := range simPartitions {
		if !r.owns[p] || r.next[p] >= simEnd || s.rand.IntN(3) == 0 {
			continue
		}
		to := min(simEnd, r.next[p]+1+s.rand.Int64N(4))
		ranges = append(ranges, record.Range{TopicPartition: simTP(p), From: r.next[p], To: to})
		r.next[p] = to
	}
	if len(ranges) > 0 {
		s.sealed++
		x := sealed(here, ranges...)
		x.ID = strconv.Itoa(s.sealed)
		r.outbox = append(r.outbox, x)
	}
}

func (s *sim) deliver(r *simReplica) {
	if len(r.outbox) == 0 {
		return
	}
	s.log = append(s.log, r.outbox[0])
	if s.rand.IntN(10) > 0 { // else it is delivered again
		r.outbox = r.outbox[1:]
	}
}

func (s *sim) seek(r *simReplica) {
	if len(r.outbox) > 0 {
		return
	}
	for p := range simPartitions {
		if r.owns[p] {
			r.next[p], _ = s.frontier().Next(simTP(p))
		}
	}
}

func (s *sim) swap(base, next simHead) {
	if base.version == s.head.version {
		next.version++
		s.head = next
	} else if s.rebase {
		next.version = s.head.version + 1
		next.files = append(slices.Clone(s.head.files), next.files[len(base.files):]...)
		s.head = next
	}
}

func (s *sim) commit(r *simReplica) {
	if r.base == nil {
		return
	}
	base := *r.base
	_, accepted := s.fold(base.floor, s.log[base.from:])
	if len(accepted) == 0 {
		r.base = nil
		return
	}
	k := accepted[s.rand.IntN(len(accepted))]
	next := simHead{version: base.version, from: base.from + k + 1, files: slices.Clone(base.files)}
	var took []int
	next.floor, took = s.fold(base.floor, s.log[base.from:next.from])
	for _, i := range took {
		next.files = append(next.files, s.log[base.from+i])
	}
	r.base = nil
	if s.rand.IntN(4) == 0 { // the reply is lost and the request may land later
		s.late = append(s.late, func() { s.swap(base, next) })
		h := s.head
		r.base = &h
		return
	}
	s.swap(base, next)
}

func (s *sim) landLate() {
	if len(s.late) == 0 {
		return
	}
	i := s.rand.IntN(len(s.late))
	s.late[i]()
	s.late = slices.Delete(s.late, i, i+1)
}

func (s *sim) step() {
	r := &s.replicas[s.rand.IntN(len(s.replicas))]
	switch s.rand.IntN(12) {
	case 0:
		s.takePartition(r)
	case 1, 2, 3:
		s.seal(r)
	case 4, 5, 6:
		s.deliver(r)
	case 7:
		s.seek(r)
	case 8:
		h := s.head
		r.base = &h
	case 9, 10:
		s.commit(r)
	case 11:
		switch s.rand.IntN(4) {
		case 0:
			*r = simReplica{} // crash
		case 1:
			s.head.version++ // another writer of the table
		default:
			s.landLate()
		}
	}
}

// fault is the first offset that the table does not hold exactly as often as its floor says.
func (s *sim) fault() string {
	var count [simPartitions][simEnd]int
	for _, f := range s.head.files {
		for _, r := range f.Ranges {
			for o := r.From; o < r.To; o++ {
				count[r.Partition][o]++
			}
		}
	}
	for p := range simPartitions {
		floor, _ := s.head.floor.Next(simTP(p))
		for o := range simEnd {
			want := 0
			if int64(o) < floor {
				want = 1
			}
			if count[p][o] != want {
				return simTP(p).String() + " offset " + strconv.Itoa(o) + " is in the table " + strconv.Itoa(count[p][o]) + " times"
			}
		}
	}
	return ""
}

func (s *sim) run() string {
	for range simSteps {
		s.step()
		if f := s.fault(); f != "" {
			return f
		}
	}
	return ""
}

func TestSimulatedReplicasCommitEachOffsetOnce(t *testing.T) {
	seeds, finished := uint64(200), 0
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		s := newSim(seed)
		if f := s.run(); f != "" {
			t.Fatalf("seed %d: %s", seed, f)
		}
		for p := range simPartitions {
			if at, _ := s.head.floor.Next(simTP(p)); at == simEnd {
				finished++
			}
		}
	}
	if want := int(seeds) * simPartitions; finished != want {
		t.Errorf("%d of %d partitions were read to the end", finished, want)
	}
}

// The simulation must be able to fail: rules that are known to be wrong are found out.
func TestSimulationFindsWrongRules(t *testing.T) {
	found := func(name string, change func(*sim)) {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				s := newSim(seed)
				change(s)
				if s.run() != "" {
					return
				}
			}
			t.Error("no run found the fault")
		})
	}
	found("a blind retry on the new head", func(s *sim) { s.rebase = true })
	found("overlaps are accepted", func(s *sim) {
		s.fold = func(floor record.Floor, in []record.Sealed) (record.Floor, []int) {
			next := floor.Clone()
			var accepted []int
			for i := range in {
				advance(next, &in[i])
				accepted = append(accepted, i)
			}
			return next, accepted
		}
	})
}
