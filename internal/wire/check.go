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

// checkTable looks at the catalog and the table. A catalog in a SQLite file that is not there is not opened, since that
// would make it.
func checkTable(ctx context.Context, j *job.Job, declared *record.Schema, log *slog.Logger) Finding {
	i := &j.Sink.Iceberg
	f := Finding{Part: "table"}
	what := "the " + i.Catalog.Type + " catalog"
	f.Err = reach(ctx, j.Limits.ConnectTimeout, what, log, func(ctx context.Context) error {
		missing, err := catalogConfig(i.Catalog).Missing()
		if err != nil {
			return err
		}
		if missing {
			f.Detail, err = checkMissing(j, declared, fmt.Errorf("%s %s does not exist: %w", what, i.Catalog.URI,
				table.ErrNoTable))
			return err
		}
		catalog, err := OpenCatalog(ctx, i.Catalog, log)
		if err != nil {
			return err
		}
		f.Detail, err = checkIn(ctx, catalog, j, declared)
		return errors.Join(err, catalog.Close())
	})
	return f
}

func checkIn(ctx context.Context, catalog *table.Catalog, j *job.Job, declared *record.Schema) (string, error) {
	t, err := catalog.Load(ctx, j.Sink.Iceberg.Table)
	if errors.Is(err, table.ErrNoTable) {
		return checkMissing(j, declared, err)
	}
	if err != nil {
		return "", err
	}
	schema, err := BatchSchema(j, declared, t.Schema())
	if err != nil {
		return "", err
	}
	options, err := newParquetOptions(j, t, schema)
	if err != nil {
		return "", err
	}
	if _, err := newWriter(j, t, schema, options, &care{}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s at %s: %s", j.Sink.Iceberg.Table, t.Location(), describeSchema(schema)), nil
}

// checkMissing says what becomes of a table that does not exist; missing is the error of a job that does not make it.
func checkMissing(j *job.Job, declared *record.Schema, missing error) (string, error) {
	switch i := &j.Sink.Iceberg; {
	case !i.Create:
		return "", missing
	case declared == nil:
		return "", noSchema(i.Table)
	default:
		return i.Table + " does not exist yet; the job will make it", nil
	}
}
