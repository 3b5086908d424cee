package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"firn/internal/record"
	"firn/internal/table"
)

// growCommits is how many commits a table gets: about three hours at one a second.
const growCommits = 10_000

// grown is what a table with many commits came to.
type grown struct {
	ratio      float64 // of the time of a commit at the end to one at the beginning
	metadataKB float64
	manifests  float64
}

// growing is a table that gets commits of described files: what is measured is metadata, so that none are written.
type growing struct {
	ownTable
	small [bucketedCount][]record.DataFile
}

// growWindowMax is the commits whose mean time counts. It has two replacements of each bucket.
const growWindowMax = 400

// growSmallMax is the small files of a bucket that are replaced by one.
const growSmallMax = 200

// grow makes commits and measures the first and the last of them.
func grow(ctx context.Context, commits int) (g grown, err error) {
	x, err := newGrowing(ctx)
	defer func() { err = errors.Join(err, x.close()) }()
	if err != nil {
		return g, err
	}
	var first, last time.Duration
	window := min(growWindowMax, commits/2)
	for i := range commits {
		took, err := x.commit(ctx, i)
		if err != nil {
			return g, fmt.Errorf("commit %d: %w", i+1, err)
		}
		if i < window {
			first += took
		}
		if i >= commits-window {
			last += took
		}
	}
	g.ratio = last.Seconds() / first.Seconds()
	return g, x.measure(ctx, &g)
}

func newGrowing(ctx context.Context) (*growing, error) {
	schema := &record.Schema{Fields: []record.Field{{Name: "id", Type: record.Type{Kind: record.KindLong}}}}
	own, err := makeTable(ctx, table.CreateConfig{Schema: schema, Partition: []string{"bucket(id, 64)"}})
	return &growing{ownTable: own}, err
}

// commit commits a file a bucket, and says how long it took. Every tenth takes replacements, as in a job.
func (x *growing) commit(ctx context.Context, i int) (time.Duration, error) {
	sealed := x.flush(bucketedCount)
	for bucket := range bucketedCount {
		f := x.describe(bucket, 1)
		sealed.Files = append(sealed.Files, f)
		x.small[bucket] = append(x.small[bucket], f)
	}
	var replacements []record.Replacement
	if i%10 == 9 {
		replacements = x.replace()
	}
	began := time.Now()
	out, err := x.committer.Commit(ctx, []record.Sealed{sealed}, replacements...)
	if err == nil && len(out.Committed)+len(out.Replaced) != 1+len(replacements) {
		err = fmt.Errorf("the outcome is %+v", out)
	}
	if err == nil {
		_, err = x.committer.Expire(ctx, table.ExpirePolicy{})
	}
	return time.Since(began), err
}

func (x *growing) describe(bucket int, rows int64) record.DataFile {
	field := x.table.Partition()[0]
	bound := binary.LittleEndian.AppendUint64(nil, uint64(x.next))
	return record.DataFile{
		Path:   fmt.Sprintf("%s/data/%d/%s.parquet", x.table.Location(), bucket, uuid.NewString()),
		SpecID: x.table.SpecID(), SchemaID: x.table.SchemaID(), Rows: rows, SizeBytes: 1000 * rows,
		Partition: []record.PartitionValue{{
			FieldID: field.FieldID, Type: field.Result, Value: binary.LittleEndian.AppendUint32(nil, uint32(bucket)),
		}},
		ColumnSizes: map[int]int64{1: 900 * rows}, ValueCounts: map[int]int64{1: rows}, NullValueCounts: map[int]int64{1: 0},
		LowerBounds: map[int][]byte{1: bound}, UpperBounds: map[int][]byte{1: bound}, SplitOffsets: []int64{4},
	}
}

// replace joins the files of the buckets that have enough. They have it one after the other.
func (x *growing) replace() (all []record.Replacement) {
	for bucket := range x.small {
		files := x.small[bucket]
		if len(files) < growSmallMax+bucket {
			continue
		}
		r := record.Replacement{ID: uuid.NewString(), Add: []record.DataFile{x.describe(bucket, int64(len(files)))}}
		for _, f := range files {
			r.Remove = append(r.Remove, f.Path)
		}
		x.small[bucket] = nil
		all = append(all, r)
	}
	return all
}

// measure looks at the metadata as it is now.
func (x *growing) measure(ctx context.Context, g *grown) error {
	now, err := x.table.Refresh(ctx)
	if err != nil {
		return err
	}
	info, err := os.Stat(now.MetadataLocation())
	if err != nil {
		return fmt.Errorf("measuring the metadata: %w", err)
	}
	g.metadataKB = float64(info.Size()) / 1e3
	manifests, err := now.ManifestCount(ctx)
	g.manifests = float64(manifests)
	return err
}
