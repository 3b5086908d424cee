package bigquery

import (
	"errors"
	"fmt"

	"firn/internal/record"
)

// Intent is one record of the intent log: what a commit is about to show, and where the source stands with it. Once it
// is in the log the commit has happened, though it may take until the next start that all its rows are visible. It is
// written as JSON.
type Intent struct {
	ID      string   `json:"id"`
	Job     string   `json:"job"`
	Flushes []string `json:"flushes,omitempty"` // the ids of the record.Sealed that it holds
	// Streams are those with rows to be shown, each from where the intent before ended.
	Streams []StreamEnd `json:"streams,omitempty"`
	// Open are other streams that the writer had at that time. They have nothing to be shown.
	Open []string     `json:"open,omitempty"`
	Base record.Floor `json:"base"`
	Next record.Floor `json:"next"`
}

// StreamEnd is how many rows of a BUFFERED stream are to be visible.
type StreamEnd struct {
	Stream string `json:"stream"`
	Rows   int64  `json:"rows"` // the offset to be flushed is one less
}

// check looks for what no intent of ours has.
func (i *Intent) check(job string) error {
	switch {
	case i.ID == "":
		return errors.New("it has no id")
	case i.Job != job:
		return fmt.Errorf("it is of job %q, and its key is that of job %q", i.Job, job)
	case i.Next == nil || i.Base == nil:
		return errors.New("it has no floor")
	}
	for _, s := range i.Streams {
		if s.Stream == "" || s.Rows < 1 {
			return fmt.Errorf("it has %d rows of the stream %q", s.Rows, s.Stream)
		}
	}
	for topic, t := range i.Next {
		for partition, next := range t.Next {
			if partition < 0 || next < 0 {
				return fmt.Errorf("partition %d of topic %s stands at offset %d", partition, topic, next)
			}
		}
	}
	return nil
}

// streams is all that the writer had: those to be shown and the others.
func (i *Intent) streams() []string {
	out := make([]string, 0, len(i.Streams)+len(i.Open))
	for _, s := range i.Streams {
		out = append(out, s.Stream)
	}
	return append(out, i.Open...)
}
