package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"firn/internal/job"
	"firn/internal/metric"
	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/source/kafka"
	"firn/internal/wire"
)

// floorName is the floor's name among the systems.
const floorName = "floor"

const floorConditions = "the floor: a loop of one goroutine, in a process of its own, that takes records from the " +
	"source that a job has, compresses their values as they are in blocks of 1 MiB (zstd: frames of Huffman-coded " +
	"literals by internal/literal) and writes them to one local file; it decodes nothing and makes no table; the CPU " +
	"time is the process's from start to end"

// floorReport is what a floor process says at its end.
type floorReport struct {
	Messages     int64   `json:"messages"`
	Bytes        int64   `json:"bytes"`   // of values
	Written      int64   `json:"written"` // bytes
	Seconds      float64 `json:"seconds"` // from the first look at the topic to the last write
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
}

// RunFloor answers RoleFloor: it does the least that any job must do with the topic of j, and says on out what it came
// to. It ends when all that was in the topic at its start is written.
func RunFloor(ctx context.Context, j *job.Job, folder string, out io.Writer) error {
	began := time.Now()
	codec, err := parquet.ParseCodec(j.Sink.Iceberg.Compression)
	if err != nil {
		return err
	}
	file, err := newFloorFile(folder, codec)
	if err != nil {
		return err
	}
	report := floorReport{}
	err = readAll(ctx, j, func(value []byte) error {
		report.Messages++
		report.Bytes += int64(len(value))
		return file.add(value)
	})
	if err = errors.Join(err, file.close()); err != nil {
		return err
	}
	report.Written, report.Seconds = file.written, time.Since(began).Seconds()
	report.PeakRSSBytes = peakRSS(metric.Summary{})
	if err := json.NewEncoder(out).Encode(report); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// readAll gives take the value of each record that is in the topic now, through the source that a job has.
func readAll(ctx context.Context, j *job.Job, take func(value []byte) error) (err error) {
	k := j.Source.Kafka
	client, err := wire.KafkaOptions(k.Kafka)
	if err != nil {
		return err
	}
	source, err := kafka.New(kafka.Config{
		Client: client, Topics: k.Topics, FetchBytesMax: int32(k.FetchBytesMax), BufferBytesMax: int64(j.Limits.Memory) / 8,
	}, nil)
	if err != nil {
		return fmt.Errorf("making a Kafka client: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.Preflight(ctx); err != nil {
		return fmt.Errorf("looking for the brokers: %w", err)
	}
	splits, err := source.Splits(ctx)
	if err != nil {
		return fmt.Errorf("looking for the ends of topic %s: %w", k.Topics[0], err)
	}
	from, left := map[record.TopicPartition]int64{}, int64(0)
	for _, s := range splits {
		from[s.TopicPartition] = s.Earliest
		left += s.LastStable - s.Earliest
	}
	reader, err := source.Open(ctx, from)
	if err != nil {
		return fmt.Errorf("reading topic %s: %w", k.Topics[0], err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for left > 0 {
		blocks, err := reader.Next(ctx)
		if err != nil {
			return fmt.Errorf("reading topic %s: %w", k.Topics[0], err)
		}
		for _, block := range blocks {
			for i := range block.Records {
				if err := take(block.Records[i].Value); err != nil {
					return err
				}
			}
			left -= block.Range.Len()
			block.Release()
		}
	}
	return nil
}

// floor has the floor process move the topic once.
func (m *mover) floor(ctx context.Context, c jobConfig) (measured, error) {
	path, err := c.write()
	if err != nil {
		return measured{}, err
	}
	process, err := startChild(m.session.Child(ctx, RoleFloor, path))
	if err != nil {
		return measured{}, err
	}
	var report floorReport
	if err := process.hear(&report); err != nil {
		return measured{}, err
	}
	if err := process.end(); err != nil {
		return measured{}, err
	}
	if report.Messages != m.sent.Messages || report.Bytes != m.sent.Bytes {
		return measured{}, fmt.Errorf("%d messages of %d bytes were sent, and the floor read %d of %d", m.sent.Messages,
			m.sent.Bytes, report.Messages, report.Bytes)
	}
	mb := float64(report.Bytes) / 1e6
	return measured{
		mbPerCPUSecond: mb / process.cpu().Seconds(),
		mbPerSecond:    mb / report.Seconds,
		peakMiB:        float64(report.PeakRSSBytes) / (1 << 20),
		files:          dataFiles{float64(report.Written) / 1e6},
	}, nil
}
