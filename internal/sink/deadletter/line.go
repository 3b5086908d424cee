package deadletter

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"firn/internal/record"
)

// line is a Letter as a file has it: one JSON object. Bytes that are UTF-8 are text as they are; other bytes are
// base64, and an encoding beside them says so. A null key or value is null. The record's timestamp is milliseconds
// since 1970, as Kafka has it: a producer may set one that no calendar has.
type line struct {
	Time          time.Time `json:"time"`
	Job           string    `json:"job"`
	Topic         string    `json:"topic"`
	Partition     int32     `json:"partition"`
	Offset        int64     `json:"offset"`
	TimestampMs   int64     `json:"timestamp_ms"`
	Reason        string    `json:"reason"`
	Field         string    `json:"field,omitempty"`
	Key           *string   `json:"key"`
	KeyEncoding   string    `json:"key_encoding,omitempty"`
	Value         *string   `json:"value"`
	ValueEncoding string    `json:"value_encoding,omitempty"`
	Headers       []header  `json:"headers,omitempty"`
}

type header struct {
	Key           *string `json:"key"`
	KeyEncoding   string  `json:"key_encoding,omitempty"`
	Value         *string `json:"value"`
	ValueEncoding string  `json:"value_encoding,omitempty"`
}

// base64Name marks bytes that are not UTF-8: RFC 4648 section 4, with padding.
const base64Name = "base64"

// linePrefix is how every line begins; it tells a torn line of ours from another file's content.
const linePrefix = `{"time":"`

// appendLine appends a letter and a line break. Only a Time outside the years 0 to 9999 makes it fail.
func appendLine(to []byte, l Letter) ([]byte, error) {
	out := line{
		Time: l.Time.UTC(), Job: l.Job, Topic: l.Topic, Partition: l.Partition, Offset: l.Record.Offset,
		TimestampMs: l.Record.Timestamp.UnixMilli(), Reason: l.Reason, Field: l.Field,
	}
	out.Key, out.KeyEncoding = encode(l.Record.Key)
	out.Value, out.ValueEncoding = encode(l.Record.Value)
	for _, h := range l.Record.Headers {
		var to header
		to.Key, to.KeyEncoding = encode([]byte(h.Key))
		if to.Key == nil {
			to.Key = new(string)
		}
		to.Value, to.ValueEncoding = encode(h.Value)
		out.Headers = append(out.Headers, to)
	}
	buffer := bytes.NewBuffer(to)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false) // the file is for people and jq, not for a browser
	if err := encoder.Encode(out); err != nil {
		return to, fmt.Errorf("writing %s/%d offset %d as JSON: %w", l.Topic, l.Partition, l.Record.Offset, err)
	}
	return buffer.Bytes(), nil
}

func encode(b []byte) (text *string, encoding string) {
	if b == nil {
		return nil, ""
	}
	s := string(b)
	if utf8.ValidString(s) {
		return &s, ""
	}
	s = base64.StdEncoding.EncodeToString(b)
	return &s, base64Name
}

func decode(text *string, encoding string) ([]byte, error) {
	switch {
	case text == nil:
		return nil, nil
	case encoding == "":
		return []byte(*text), nil
	case encoding == base64Name:
		return base64.StdEncoding.DecodeString(*text)
	default:
		return nil, fmt.Errorf("unknown encoding %q", encoding)
	}
}

// ParseLine reads one line of a file, with or without its line break.
func ParseLine(text []byte) (Letter, error) {
	var in line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return Letter{}, fmt.Errorf("reading a dead letter: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Letter{}, errors.New("reading a dead letter: more than one JSON object is in the line")
	}
	return in.letter()
}

func (in *line) letter() (Letter, error) {
	l := Letter{
		Job: in.Job, Time: in.Time,
		Rejected: record.Rejected{
			TopicPartition: record.TopicPartition{Topic: in.Topic, Partition: in.Partition},
			Field:          in.Field, Reason: in.Reason,
			Record: record.Record{Offset: in.Offset, Timestamp: time.UnixMilli(in.TimestampMs)},
		},
	}
	var err error
	if l.Record.Key, err = decode(in.Key, in.KeyEncoding); err != nil {
		return Letter{}, fmt.Errorf("reading the key of a dead letter: %w", err)
	}
	if l.Record.Value, err = decode(in.Value, in.ValueEncoding); err != nil {
		return Letter{}, fmt.Errorf("reading the value of a dead letter: %w", err)
	}
	for _, h := range in.Headers {
		key, err := decode(h.Key, h.KeyEncoding)
		if err != nil {
			return Letter{}, fmt.Errorf("reading a header key of a dead letter: %w", err)
		}
		value, err := decode(h.Value, h.ValueEncoding)
		if err != nil {
			return Letter{}, fmt.Errorf("reading header %q of a dead letter: %w", key, err)
		}
		l.Record.Headers = append(l.Record.Headers, record.Header{Key: string(key), Value: value})
	}
	return l, nil
}
