package deletes

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"firn/internal/parquet"
	"firn/internal/record"
)

// tb is what testing and rapid have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// shelf is files by path.
type shelf map[string][]byte

// Open implements Config.Open.
func (s shelf) Open(_ context.Context, path string) (Content, error) {
	b, ok := s[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return closed{bytes.NewReader(b)}, nil
}

type closed struct{ *bytes.Reader }

func (closed) Close() error { return nil }

func column(id int, name string, k record.Kind) record.Field {
	return record.Field{ID: id, Name: name, Type: record.Type{Kind: k}}
}

// put writes a Parquet file of rows: int64 and string values, nil is null.
func (s shelf) put(t tb, path string, fields []record.Field, rows [][]any) {
	t.Helper()
	schema := &record.Schema{Fields: fields}
	o := parquet.DefaultOptions()
	o.PageRowsMax = 7
	f, err := parquet.NewFile(schema, o)
	if err != nil {
		t.Fatal(err)
	}
	columns := record.NewColumns(fields)
	for i, row := range rows {
		for j, v := range row {
			c := &columns[j]
			c.Grow()
			for c.Field.Type.Kind == record.KindStruct && v != nil {
				c.Valid[i] = true
				c = &c.Children[0]
			}
			switch v := v.(type) {
			case int64:
				c.Valid[i], c.Ints64[i] = true, v
			case float64:
				c.Valid[i], c.Floats64[i] = true, v
			case string:
				c.Valid[i], c.Bytes[i] = true, []byte(v)
			}
		}
	}
	if err := f.Append(columns, nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := f.Finish(&out); err != nil {
		t.Fatal(err)
	}
	s[path] = out.Bytes()
}

// data is a data file that was put.
func (s shelf) data(path string, rows int, sequence int64, deletes ...record.DeleteFile) Data {
	b := s[path]
	return Data{
		Path: path, Bytes: bytes.NewReader(b), SizeBytes: int64(len(b)), Rows: int64(rows), Sequence: sequence,
		Deletes: deletes,
	}
}

// positions puts a file of position deletes.
func (s shelf) positions(t tb, path string, rows [][]any) record.DeleteFile {
	t.Helper()
	s.put(t, path, positionSchema.Fields, rows)
	return record.DeleteFile{Path: path, Content: record.DeletePositions, SizeBytes: int64(len(s[path])),
		Rows: int64(len(rows)), Sequence: 9}
}

// equality puts a file of equality deletes by all fields.
func (s shelf) equality(t tb, path string, sequence int64, fields []record.Field, rows [][]any) record.DeleteFile {
	t.Helper()
	s.put(t, path, fields, rows)
	d := record.DeleteFile{Path: path, Content: record.DeleteEquality, SizeBytes: int64(len(s[path])),
		Rows: int64(len(rows)), Sequence: sequence}
	for _, f := range fields {
		for f.Type.Kind == record.KindStruct {
			f = f.Type.Fields[0]
		}
		d.EqualityIDs = append(d.EqualityIDs, f.ID)
	}
	return d
}

// vector puts a deletion vector behind some other bytes.
func (s shelf) vector(t tb, path string, rows ...uint64) record.DeleteFile {
	t.Helper()
	blob := vectorOf(t, rows...)
	s[path] = append([]byte("PFA1 others"), blob...)
	return record.DeleteFile{Path: path, Content: record.DeleteVector, SizeBytes: int64(len(s[path])),
		Rows: int64(len(rows)), Offset: 11, Length: int64(len(blob))}
}

// vectorOf is a blob deletion-vector-v1 of the rows.
func vectorOf(t tb, rows ...uint64) []byte {
	t.Helper()
	maps := make(map[uint32]*roaring.Bitmap)
	var keys []uint32
	for _, row := range rows {
		high := uint32(row >> 32)
		if maps[high] == nil {
			maps[high] = roaring.New()
			keys = append(keys, high)
		}
		maps[high].Add(uint32(row))
	}
	slices.Sort(keys)
	framed := binary.LittleEndian.AppendUint32(nil, vectorMagic)
	framed = binary.LittleEndian.AppendUint64(framed, uint64(len(keys)))
	for _, key := range keys {
		framed = binary.LittleEndian.AppendUint32(framed, key)
		maps[key].RunOptimize()
		b, err := maps[key].ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		framed = append(framed, b...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(framed)))
	return binary.BigEndian.AppendUint32(append(out, framed...), crc32.ChecksumIEEE(framed))
}

// rows is the numbers of a set.
func (r *Rows) list() []int64 {
	out := []int64{}
	for i := range r.rows {
		if r.Has(i) {
			out = append(out, i)
		}
	}
	return out
}
