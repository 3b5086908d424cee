package metric

import (
	"cmp"
	"slices"
)

// gapListMax bounds the gaps kept in full; the counters go on.
const gapListMax = 100

type topicPartition struct {
	topic     string
	partition int32
}

// partition is what is known of one topic partition. It is guarded by the job's lock.
type partition struct {
	lag       int64
	uncertain int64 // records of open transactions
	gap       int64 // offsets lost to gaps
}

// Gap is offsets [From, To) that the source no longer had when they were to be read.
type Gap struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
}

type gaps struct {
	count, offsets int64
	last           []Gap // the newest gapListMax
}

// Gap counts offsets [from, to) of a topic partition that retention removed before they were read.
func (j *Job) Gap(topic string, part int32, from, to int64) {
	if to <= from {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.at(topic, part).gap += to - from
	j.gaps.count++
	j.gaps.offsets += to - from
	j.gaps.last = append(j.gaps.last, Gap{topic, part, from, to})
	if n := len(j.gaps.last); n > gapListMax {
		j.gaps.last = slices.Delete(j.gaps.last, 0, n-gapListMax)
	}
}

// Lag sets how many offsets of a topic partition are below its last stable offset and not yet in the table. It is 0
// when the job has caught up, and never less: a negative value, which a stale view of the log's end can give, counts
// as 0.
func (j *Job) Lag(topic string, part int32, records int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.setLag(j.at(topic, part), max(records, 0))
	j.backlog.update(j.now(), j.behind())
}

// Uncertain sets how many offsets of a topic partition are past its last stable offset: open transactions, which a
// read-committed reader cannot see yet and which are therefore not lag.
func (j *Job) Uncertain(topic string, part int32, records int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.at(topic, part).uncertain = max(records, 0)
}

// Unassigned forgets the lag of a topic partition that the job no longer reads. What it lost to gaps stays counted.
func (j *Job) Unassigned(topic string, part int32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.at(topic, part)
	j.setLag(p, 0)
	p.uncertain = 0
	if p.gap == 0 {
		delete(j.partitions, topicPartition{topic, part})
	}
	j.backlog.update(j.now(), j.behind())
}

func (j *Job) at(topic string, part int32) *partition {
	tp := topicPartition{topic, part}
	p := j.partitions[tp]
	if p == nil {
		p = &partition{}
		j.partitions[tp] = p
	}
	return p
}

// PartitionLag is how far one topic partition is behind.
type PartitionLag struct {
	Topic            string `json:"topic"`
	Partition        int32  `json:"partition"`
	LagRecords       int64  `json:"lag_records"`
	UncertainRecords int64  `json:"uncertain_records"`
	GapOffsets       int64  `json:"gap_offsets"`
}

// partitionList is ordered by topic and partition. The caller holds the lock.
func (j *Job) partitionList() []PartitionLag {
	list := make([]PartitionLag, 0, len(j.partitions))
	for tp, p := range j.partitions {
		list = append(list, PartitionLag{tp.topic, tp.partition, p.lag, p.uncertain, p.gap})
	}
	slices.SortFunc(list, func(a, b PartitionLag) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return list
}

// setLag keeps the total. The caller holds the lock.
func (j *Job) setLag(p *partition, lag int64) {
	j.lag += lag - p.lag
	p.lag = lag
}

// behind says whether there is something to commit. The caller holds the lock.
func (j *Job) behind() bool { return j.buffered.Load() > 0 || j.lag > 0 }
