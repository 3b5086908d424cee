package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"firn/internal/job"
	"firn/internal/record"
	"firn/internal/source/kafka"
	"firn/internal/table"
)

// Finding is what a dry look at one part of a job gave.
type Finding struct {
	Part   string `json:"part"`
	Detail string `json:"detail"`
	Err    error  `json:"-"`
}

// Check connects to everything that the job names and changes nothing. It goes on after a part that fails, so that
// all faults are seen at once.
func Check(ctx context.Context, j *job.Job, log *slog.Logger) []Finding {
	declared, err := DeclaredSchema(j)
	findings := []Finding{{Part: "schema", Detail: describeSchema(declared), Err: err}}
	findings = append(findings, checkSource(ctx, j, log))
	if j.Errors.Policy == "dead_letter" {
		findings = append(findings, checkDeadLetters(ctx, j))
	}
	return append(findings, checkTable(ctx, j, declared, log))
}

func describeSchema(s *record.Schema) string {
	if s == nil {
		return "the table's own"
	}
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name + " " + f.Type.String()
	}
	return strings.Join(names, ", ")
}

func checkSource(ctx context.Context, j *job.Job, log *slog.Logger) Finding {
	f := Finding{Part: "kafka"}
	a := &Assembly{}
	var source *kafka.Source
	source, f.Err = a.openSource(ctx, j, log)
	if f.Err == nil {
		var splits []record.Split
		splits, f.Err = source.Splits(ctx)
		f.Detail = describeSplits(j.Source.Kafka.Topics, splits)
	}
	f.Err = errors.Join(f.Err, a.Close())
	return f
}

func describeSplits(topics []string, splits []record.Split) string {
	var parts []string
	for _, topic := range topics {
		var partitions, offsets int64
		for _, s := range splits {
			if s.Topic == topic {
				partitions++
				offsets += s.LastStable - s.Earliest
			}
		}
		if partitions == 0 {
			parts = append(parts, topic+" does not exist yet; the job will wait for it")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s has %d partitions, %d offsets to read at most", topic, partitions, offsets))
	}
	return strings.Join(parts, "; ")
}

// checkDeadLetters looks whether the topic can be written, or the file's folder is there.
func checkDeadLetters(ctx context.Context, j *job.Job) Finding {
	f := Finding{Part: "letters"}
	if path := j.Errors.DeadLetter.File; path != "" {
		f.Detail = path
		_, f.Err = os.Stat(filepath.Dir(path))
		return f
	}
	f.Detail = "topic " + j.Errors.DeadLetter.Topic
	a := &Assembly{}
	_, err := a.openDeadLetters(ctx, j, slog.New(slog.DiscardHandler))
	f.Err = errors.Join(err, a.Close())
	return f
}

func checkTable(ctx context.Context, j *job.Job, declared *record.Schema, log *slog.Logger) Finding {
	i := &j.Sink.Iceberg
	f := Finding{Part: "table"}
	f.Err = reach(ctx, j.Limits.ConnectTimeout, "the "+i.Catalog.Type+" catalog", log, func(ctx context.Context) error {
		catalog, err := OpenCatalog(ctx, i.Catalog, log)
		if err != nil {
			return err
		}
		t, err := catalog.Load(ctx, i.Table)
		switch {
		case errors.Is(err, table.ErrNoTable) && !i.Create:
			return err
		case errors.Is(err, table.ErrNoTable) && declared == nil:
			return fmt.Errorf("table %s does not exist and the job has no decode.schema to make it from", i.Table)
		case errors.Is(err, table.ErrNoTable):
			f.Detail = i.Table + " does not exist yet; the job will make it"
			return nil
		case err != nil:
			return err
		}
		schema, err := BatchSchema(i.Table, declared, t.Schema())
		if err != nil {
			return err
		}
		if _, err := newWriter(j, t, schema); err != nil {
			return err
		}
		f.Detail = fmt.Sprintf("%s at %s: %s", i.Table, t.Location(), describeSchema(schema))
		return nil
	})
	return f
}
