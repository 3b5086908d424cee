package deletes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"firn/internal/record"
)

// The reserved field ids of position deletes (Iceberg specification, "Position Delete Files").
const (
	fieldFilePath = 2147483546
	fieldPos      = 2147483545
)

var positionSchema = &record.Schema{Fields: []record.Field{
	{ID: fieldFilePath, Name: "file_path", Type: record.Type{Kind: record.KindString}},
	{ID: fieldPos, Name: "pos", Type: record.Type{Kind: record.KindLong}},
}}

// positions takes in the rows that a file of position deletes names. What it says of other files is passed over.
func (f *finder) positions(ctx context.Context, a *applying) error {
	numbers := make(map[string]int, len(a.to))
	for _, i := range a.to {
		numbers[f.data[i].Path] = i
	}
	return f.open(ctx, a.Path, func(file io.ReaderAt) error {
		must := []int{fieldFilePath, fieldPos}
		return f.each(ctx, file, a.SizeBytes, positionSchema, must, func(b *record.Batch, _ int64) error {
			return f.positionBatch(b, numbers)
		})
	})
}

func (f *finder) positionBatch(b *record.Batch, numbers map[string]int) error {
	paths, positions := &b.Columns[0], &b.Columns[1]
	var last []byte
	number, known := 0, false
	for i := range b.Rows {
		if !paths.Valid[i] || !positions.Valid[i] {
			return errors.New("a row of it names no file or no position")
		}
		if path := paths.Bytes[i]; last == nil || !bytes.Equal(path, last) { // they are sorted by path
			last = path
			number, known = numbers[string(path)]
		}
		if known && !f.found[number].add(positions.Ints64[i]) {
			return fmt.Errorf("it names row %d of %s, which has %d", positions.Ints64[i], f.data[number].Path,
				f.data[number].Rows)
		}
	}
	return nil
}
