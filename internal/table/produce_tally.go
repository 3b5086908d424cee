package table

import (
	"maps"
	"strconv"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// tally counts what a snapshot adds and removes, for its summary (specification, appendix F "Optional Snapshot Summary
// Fields").
type tally struct {
	addedFiles, addedRows, addedBytes       int64
	removedFiles, removedRows, removedBytes int64
	partitions                              map[string]bool
}

func (y *tally) add(f iceberg.DataFile) {
	y.addedFiles++
	y.addedRows += f.Count()
	y.addedBytes += f.FileSizeBytes()
	y.touch(f)
}

func (y *tally) remove(f iceberg.DataFile) {
	y.removedFiles++
	y.removedRows += f.Count()
	y.removedBytes += f.FileSizeBytes()
	y.touch(f)
}

func (y *tally) touch(f iceberg.DataFile) {
	if y.partitions == nil {
		y.partitions = make(map[string]bool)
	}
	y.partitions[partitionKey(f)] = true
}

// summary is the entries of the change, the counts, and the totals that follow from those of the snapshot before. A
// total that the snapshot before does not state cannot be stated.
func (y *tally) summary(c alteration, parent *icebergtable.Snapshot) *icebergtable.Summary {
	p := make(iceberg.Properties)
	maps.Copy(p, c.summary)
	for key, n := range map[string]int64{
		"added-data-files": y.addedFiles, "added-records": y.addedRows, "added-files-size": y.addedBytes,
		"deleted-data-files": y.removedFiles, "deleted-records": y.removedRows, "removed-files-size": y.removedBytes,
		"changed-partition-count": int64(len(y.partitions)),
	} {
		if n > 0 {
			p[key] = strconv.FormatInt(n, 10)
		}
	}
	for key, grown := range map[string]int64{
		"total-data-files": y.addedFiles - y.removedFiles, "total-records": y.addedRows - y.removedRows,
		"total-files-size": y.addedBytes - y.removedBytes, "total-delete-files": 0, "total-position-deletes": 0,
		"total-equality-deletes": 0,
	} {
		before, known := totalBefore(parent, key)
		if known && before+grown >= 0 {
			p[key] = strconv.FormatInt(before+grown, 10)
		}
	}
	return &icebergtable.Summary{Operation: c.operation, Properties: p}
}

func totalBefore(parent *icebergtable.Snapshot, key string) (int64, bool) {
	if parent == nil {
		return 0, true
	}
	n, err := strconv.ParseInt(summary(parent, key), 10, 64)
	return n, err == nil
}
