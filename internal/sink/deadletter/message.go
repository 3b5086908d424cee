package deadletter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
)

// Names of the headers that tell where a dead letter came from, in the order in which they follow the record's own.
const (
	headerPrefix    = "firn."
	headerReason    = "firn.reason"
	headerField     = "firn.field" // only when one column is at fault
	headerTopic     = "firn.topic"
	headerPartition = "firn.partition"
	headerOffset    = "firn.offset"
	headerTimestamp = "firn.timestamp" // of the record, in milliseconds since 1970
	headerJob       = "firn.job"
)

// message makes the Kafka record of a letter: the rejected record's own key, value and headers, then ours. It copies
// the bytes, which are the source's.
func message(topic string, l Letter) *kgo.Record {
	m := &kgo.Record{Topic: topic, Key: bytes.Clone(l.Record.Key), Value: bytes.Clone(l.Record.Value)}
	for _, h := range l.Record.Headers {
		m.Headers = append(m.Headers, kgo.RecordHeader{Key: h.Key, Value: bytes.Clone(h.Value)})
	}
	add := func(name, value string) {
		m.Headers = append(m.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	add(headerReason, l.Reason)
	if l.Field != "" {
		add(headerField, l.Field)
	}
	add(headerTopic, l.Topic)
	add(headerPartition, strconv.Itoa(int(l.Partition)))
	add(headerOffset, strconv.FormatInt(l.Record.Offset, 10))
	add(headerTimestamp, strconv.FormatInt(l.Record.Timestamp.UnixMilli(), 10))
	add(headerJob, l.Job)
	return m
}

// ParseMessage reads a record of a dead letter topic. The headers that firn added are taken off; a record that was
// itself a dead letter once keeps those of its earlier life. The letter aliases the record's bytes.
func ParseMessage(m *kgo.Record) (Letter, error) {
	start := len(m.Headers)
	for start > 0 && strings.HasPrefix(m.Headers[start-1].Key, headerPrefix) {
		start--
		if m.Headers[start].Key == headerReason { // the first of ours
			break
		}
	}
	own := m.Headers[start:]
	if len(own) == 0 || own[0].Key != headerReason {
		return Letter{}, fmt.Errorf("record %s/%d offset %d is no dead letter: it has no header %s",
			m.Topic, m.Partition, m.Offset, headerReason)
	}
	l := Letter{Time: m.Timestamp, Rejected: record.Rejected{Record: record.Record{Key: m.Key, Value: m.Value}}}
	for _, h := range m.Headers[:start] {
		l.Record.Headers = append(l.Record.Headers, record.Header{Key: h.Key, Value: h.Value})
	}
	if err := l.describe(own); err != nil {
		return Letter{}, fmt.Errorf("reading dead letter %s/%d offset %d: %w", m.Topic, m.Partition, m.Offset, err)
	}
	return l, nil
}

// describe fills in what our headers say.
func (l *Letter) describe(headers []kgo.RecordHeader) error {
	get := func(name string) (string, error) {
		i := slices.IndexFunc(headers, func(h kgo.RecordHeader) bool { return h.Key == name })
		if i < 0 {
			return "", fmt.Errorf("header %s is missing", name)
		}
		return string(headers[i].Value), nil
	}
	var err error
	text := func(name string, to *string) {
		if err == nil {
			*to, err = get(name)
		}
	}
	var partition, offset, timestamp string
	text(headerReason, &l.Reason)
	text(headerTopic, &l.Topic)
	text(headerJob, &l.Job)
	text(headerPartition, &partition)
	text(headerOffset, &offset)
	text(headerTimestamp, &timestamp)
	if err != nil {
		return err
	}
	if field, missing := get(headerField); missing == nil {
		l.Field = field
	}
	return l.locate(partition, offset, timestamp)
}

func (l *Letter) locate(partition, offset, timestamp string) error {
	p, err := strconv.ParseInt(partition, 10, 32)
	if err != nil {
		return fmt.Errorf("header %s: %w", headerPartition, err)
	}
	l.Partition = int32(p)
	if l.Record.Offset, err = strconv.ParseInt(offset, 10, 64); err != nil {
		return fmt.Errorf("header %s: %w", headerOffset, err)
	}
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("header %s: %w", headerTimestamp, err)
	}
	l.Record.Timestamp = time.UnixMilli(ms)
	return nil
}
