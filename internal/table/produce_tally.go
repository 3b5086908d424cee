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
	deletes                                 map[string]int64 // delete files that go, by key of the summary
	partitions                              map[string]bool
}

func (y *tally) add(f iceberg.DataFile) {
	y.addedFiles++
	y.addedRows += f.Count()
	y.addedBytes += f.FileSizeBytes()
	y.touch(f)
}

func (y *tally) remove(f iceberg.DataFile) {
	y.touch(f)
	if f.ContentType() != iceberg.EntryContentData {
		y.removeDeletes(f)
		return
	}
	y.removedFiles++
	y.removedRows += f.Count()
	y.removedBytes += f.FileSizeBytes()
}

// removeDeletes counts a delete file that goes. Of a vector what counts is its part of the file.
func (y *tally) removeDeletes(f iceberg.DataFile) {
	if y.deletes == nil {
		y.deletes = make(map[string]int64)
	}
	files, rows := "removed-position-delete-files", "removed-position-deletes"
	switch {
	case f.ContentType() == iceberg.EntryContentEqDeletes:
		files, rows = "removed-equality-delete-files", "removed-equality-deletes"
	case f.FileFormat() == iceberg.PuffinFile:
		files = "removed-dvs"
	}
	y.deletes["removed-delete-files"]++
	y.deletes[files]++
	y.deletes[rows] += f.Count()
	if size := f.ContentSizeInBytes(); size != nil {
		y.removedBytes += *size
	} else {
		y.removedBytes += f.FileSizeBytes()
	}
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
	for key, n := range y.deletes {
		p[key] = strconv.FormatInt(n, 10)
	}
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
		"total-files-size": y.addedBytes - y.removedBytes, "total-delete-files": -y.deletes["removed-delete-files"],
		"total-position-deletes": -y.deletes["removed-position-deletes"],
		"total-equality-deletes": -y.deletes["removed-equality-deletes"],
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
