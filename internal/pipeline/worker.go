package pipeline

import (
	"context"
	"fmt"

	"firn/internal/record"
)

// worker decodes blocks and writes their rows. It has its own decoder and batch.
type worker struct {
	session *session
	decoder Decoder
	batch   *record.Batch
	events  record.EventTimes
}

// run takes blocks until reading ends. The block in hand is finished then, unless finishing ends too.
func (w *worker) run(reading, finishing context.Context) error {
	s := w.session
	for {
		if err := s.memory.wait(reading); err != nil {
			return nil
		}
		if err := s.queue.wait(reading); err != nil {
			return nil
		}
		if err := w.next(finishing); err != nil {
			return err
		}
	}
}

// next handles one block. It takes it and finishes it under the cut's read lock, so that a cut never falls between
// two blocks of a topic partition of which only the second is done.
func (w *worker) next(ctx context.Context) error {
	s := w.session
	s.cut.RLock()
	defer s.cut.RUnlock()
	block, ok := s.queue.take()
	if !ok {
		return nil
	}
	defer s.queue.done(block)
	if err := w.handle(ctx, block.Block); err != nil {
		return err
	}
	block.Release()
	return nil
}

func (w *worker) handle(ctx context.Context, block *record.Block) error {
	s := w.session
	w.batch.Reset()
	tombstones, controls := w.decoder.Decode(block, w.batch)
	if err := w.reject(ctx); err != nil {
		return err
	}
	if w.batch.Rows > 0 {
		if err := s.config.Writer.Write(ctx, w.batch); err != nil {
			return fmt.Errorf("writing %s offsets %d to %d: %w", block.TopicPartition, block.Range.From, block.Range.To, err)
		}
	}
	counts := countsOf(block, w.batch, tombstones, controls)
	w.events = w.events[:0]
	for i := range block.Records {
		if !block.Records[i].Control {
			w.events = w.events.Append(block.Records[i].Timestamp.UnixMilli(), 1)
		}
	}
	s.interval.add(block, counts, w.events)
	s.advance(block.Range)
	m := s.config.Metrics
	m.Read(block.Topic, block.Partition, len(block.Records)-controls, block.Bytes)
	m.Decoded(w.batch.Rows, len(w.batch.Rejected), tombstones)
	m.Buffered(s.buffered())
	m.Gap(block.Topic, block.Partition, block.Gap.From, block.Gap.To)
	return nil
}

// countsOf accounts for every offset of the block.
func countsOf(block *record.Block, b *record.Batch, tombstones, controls int) record.Counts {
	expired := block.Gap.Len()
	data := int64(len(block.Records) - controls)
	return record.Counts{
		Rows: int64(b.Rows), Rejected: int64(len(b.Rejected)), Tombstones: int64(tombstones), Expired: expired,
		Holes: block.Range.Len() - data - expired,
	}
}

// reject hands the batch's rejected records to the dead letters, or stops the job at the first.
func (w *worker) reject(ctx context.Context) error {
	if len(w.batch.Rejected) == 0 {
		return nil
	}
	if w.session.config.DeadLetters == nil {
		r := &w.batch.Rejected[0]
		return fmt.Errorf("record at %s offset %d cannot become a row: %s; correct the schema or the producer, or set "+
			"errors.policy to dead_letter to set such records aside", r.TopicPartition, r.Record.Offset, r.Reason)
	}
	if err := w.session.config.DeadLetters.Write(ctx, w.batch.Rejected); err != nil {
		return fmt.Errorf("writing %d dead letters: %w", len(w.batch.Rejected), err)
	}
	return nil
}
