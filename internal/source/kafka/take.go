package kafka

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// takeAll makes blocks of all that was polled.
func (r *reader) takeAll(fetches kgo.Fetches) {
	for _, p := range r.unpack.all(r.polled(fetches)) {
		r.take(p)
	}
}

// polled lists what there are records of, in parts.
func (r *reader) polled(fetches kgo.Fetches) []*polled {
	var list []*polled
	r.each(fetches, func(tp record.TopicPartition, p *kgo.FetchPartition) {
		if at := r.reading[tp]; at != nil && len(p.Records) > 0 {
			for _, part := range r.unpack.parts(p.Records) {
				list = append(list, &polled{
					TopicPartition: tp, position: at.position, logStart: p.LogStartOffset, records: part,
				})
			}
		}
	})
	return list
}

// take hands on the blocks of a part of a partition. When the rest of it cannot be read, that is the fault to judge.
func (r *reader) take(p *polled) {
	at := r.reading[p.TopicPartition]
	if at == nil {
		return // the part before it could not be read
	}
	if last := p.records[0].Offset; last < at.position {
		r.fail(p.TopicPartition, beyondEnd(p.TopicPartition, at.position, last, ErrOffsetBeyondEnd))
		return
	}
	if len(p.blocks) > 0 && !r.append(at, p) {
		return
	}
	switch {
	case errors.Is(p.err, errFrameGone):
		r.recheck(p.TopicPartition, time.Now()) // and so fetched again
	case p.err != nil:
		r.fault(p.TopicPartition, p.err)
	}
}

// append hands on blocks; false when the partition was stopped.
func (r *reader) append(at *partition, p *polled) bool {
	first, last := p.blocks[0], p.blocks[len(p.blocks)-1]
	begin := first.Records[0].Offset
	if begin < at.position {
		r.fail(p.TopicPartition, beyondEnd(p.TopicPartition, at.position, begin, ErrOffsetBeyondEnd))
		return false
	}
	// A hole before the first record is compacted or aborted ones, unless the log begins after the position.
	if expired := min(begin, p.logStart); expired > at.position {
		if !r.skip(p.TopicPartition, at, expired) {
			return false
		}
	}
	first.Range.From = at.position
	r.blocks = append(r.blocks, p.blocks...)
	at.position = last.Range.To
	at.absent = 0
	return true
}

// skip moves a partition over offsets that retention removed; false when the job is to stop at that.
func (r *reader) skip(tp record.TopicPartition, at *partition, earliest int64) bool {
	block, err := r.source.expired(tp, at.position, earliest)
	if err != nil {
		r.fail(tp, err)
		return false
	}
	r.blocks = append(r.blocks, block)
	at.position = earliest
	return true
}
