package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"firn/internal/record"
)

// TestJoinRowLineage adds row ids and sequence numbers, copies them when what was joined is joined again, and mixes
// both.
func TestJoinRowLineage(t *testing.T) {
	s := referenceSchema()
	lineage := withLineage(s)
	for _, version := range []int{1, 2} {
		for _, codec := range []Codec{CodecNone, CodecZstd, CodecAuto} {
			o := Options{RowGroupBytesMax: 1 << 12, PageVersion: version, Codec: codec, PageChecksums: true}
			var parts []Part
			var all [][]any
			for i, n := range []int{1000, 0, 3, 500} {
				part := partOf(t, s, words("a", n, 100), o)
				part.FirstRowID, part.SequenceNumber = int64(10_000*i+7), int64(40-i)
				parts = append(parts, part)
				for k, row := range words("a", n, 100) {
					all = append(all, append(slices.Clip(row), part.FirstRowID+int64(k), part.SequenceNumber))
				}
			}
			o.RowGroupBytesMax = 0
			data, d := joinLineage(t, lineage, parts, o)
			checkArrow(t, lineage, all, data)
			checkMetrics(t, lineage, all, d)
			checkIndexes(t, data)

			again := asPart(data, d)
			other := parts[2]
			all = append(all, all[1000:1003]...)
			data, d = joinLineage(t, lineage, []Part{again, other}, o)
			checkArrow(t, lineage, all, data)
			checkMetrics(t, lineage, all, d)
		}
	}
}

// joinLineage joins parts of the schema that lineage adds its columns to.
func joinLineage(t *testing.T, lineage *record.Schema, parts []Part, o Options) ([]byte, record.DataFile) {
	t.Helper()
	s := *lineage
	s.Fields = s.Fields[:len(s.Fields)-2]
	var out strings.Builder
	joined, err := Join(t.Context(), &out, parts, JoinOptions{Schema: &s, Options: o, RowLineage: true})
	if err != nil {
		t.Fatal(err)
	}
	checkJoined(t, lineage, []byte(out.String()), joined.File)
	return []byte(out.String()), joined.File
}

// TestJoinManyRowIDs takes more than a page.
func TestJoinManyRowIDs(t *testing.T) {
	s := referenceSchema()
	rows := repeat(words("a", 1, 1), 2*lineagePageRowsMax+5)
	part := partOf(t, s, rows, Options{})
	part.FirstRowID, part.SequenceNumber = 1<<40, 3
	data, d := joinLineage(t, withLineage(s), []Part{part, part}, Options{})
	got := readArrow(t, withLineage(s), data)
	for i, row := range got {
		if want := int64(1<<40 + i%len(rows)); row[2] != want || row[3] != int64(3) {
			t.Fatalf("row %d has id %v and sequence number %v, want %d and 3", i, row[2], row[3], want)
		}
	}
	bounds := []uint64{binary.LittleEndian.Uint64(d.LowerBounds[fieldRowID]),
		binary.LittleEndian.Uint64(d.UpperBounds[fieldRowID])}
	if diff := cmp.Diff([]uint64{1 << 40, 1<<40 + uint64(len(rows)) - 1}, bounds); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
	if size := d.ColumnSizes[fieldRowID] + d.ColumnSizes[fieldRowSequence]; size > int64(len(rows)) {
		t.Errorf("the columns take %d bytes for %d rows", size, 2*len(rows))
	}
}

func TestJoinRowLineageRefuses(t *testing.T) {
	s := referenceSchema()
	lineage := withLineage(s)
	plain := partOf(t, s, words("a", 10, 10), Options{})
	var rows [][]any
	for _, row := range words("a", 10, 10) {
		rows = append(rows, append(row, int64(1), nil))
	}
	inherited := partOf(t, lineage, rows, Options{})
	negative := plain
	negative.FirstRowID = -1
	for _, c := range []struct {
		part    Part
		lineage bool
		want    string
		differs bool
	}{
		{inherited, true, "column _last_updated_sequence_number has nulls", true},
		{inherited, false, "4 columns of values, the table has 2", true},
		{negative, true, "first row id -1", false},
	} {
		_, err := Join(t.Context(), io.Discard, []Part{c.part}, JoinOptions{Schema: s, RowLineage: c.lineage})
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrSchemaDiffers) != c.differs {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
