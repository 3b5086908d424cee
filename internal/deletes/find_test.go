package deletes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"firn/internal/record"
)

var (
	idField   = column(1, "id", record.KindLong)
	nameField = column(2, "name", record.KindString)
)

// config reads files of a shelf, and knows some columns.
func (s shelf) config(fields ...record.Field) Config {
	return Config{Open: s.Open, Field: func(id int) (record.Field, error) {
		for _, f := range fields {
			leaf := f
			for leaf.Type.Kind == record.KindStruct {
				leaf = leaf.Type.Fields[0]
			}
			if leaf.ID == id {
				return f, nil
			}
		}
		return record.Field{}, fmt.Errorf("there is no column of field id %d", id)
	}}
}

// check has the rows of one data file found.
func (s shelf) check(t *testing.T, c Config, d Data, want ...int64) {
	t.Helper()
	found, err := Find(t.Context(), c, []Data{d})
	if err != nil {
		t.Fatal(err)
	}
	if got := found[0].list(); !slices.Equal(got, want) || found[0].Count() != int64(len(want)) {
		t.Errorf("rows %d are deleted, %d of them, want %d", got, found[0].Count(), want)
	}
}

func TestPositions(t *testing.T) {
	s := shelf{}
	s.put(t, "a", []record.Field{idField}, make([][]any, 0))
	one := s.positions(t, "p", [][]any{{"a", int64(3)}, {"a", int64(0)}, {"b", int64(700)}, {"a", int64(3)}})
	two := s.positions(t, "q", [][]any{{"a", int64(9)}, {"c", int64(1)}})
	s.check(t, s.config(), s.data("a", 10, 1, one, two), 0, 3, 9)
	s.check(t, s.config(), s.data("a", 10, 1, two), 9)
	s.check(t, s.config(), s.data("a", 10, 1))
}

func TestVector(t *testing.T) {
	s := shelf{"a": nil}
	d := s.vector(t, "v", 1, 2, 3, 4, 5, 6, 7, 100, 70_000)
	s.check(t, s.config(), s.data("a", 100_000, 1, d), 1, 2, 3, 4, 5, 6, 7, 100, 70_000)
}

// An equality delete is of rows that are older, by all of its columns, nulls being equal.
func TestEquality(t *testing.T) {
	s := shelf{}
	fields := []record.Field{nameField, idField}
	s.put(t, "a", fields, [][]any{{"x", int64(1)}, {"y", int64(1)}, {nil, int64(1)}, {"x", nil}, {nil, nil}})
	c := s.config(idField, nameField)
	byID := s.equality(t, "1", 5, fields[1:], [][]any{{int64(1)}, {int64(7)}})
	s.check(t, c, s.data("a", 5, 4, byID), 0, 1, 2)
	s.check(t, c, s.data("a", 5, 5, byID))
	byNull := s.equality(t, "2", 5, fields[1:], [][]any{{nil}})
	s.check(t, c, s.data("a", 5, 4, byNull), 3, 4)
	byBoth := s.equality(t, "3", 5, fields, [][]any{{"x", int64(1)}, {nil, nil}, {"y", nil}})
	s.check(t, c, s.data("a", 5, 4, byBoth), 0, 4)
	s.check(t, c, s.data("a", 5, 4, byBoth, byNull), 0, 3, 4)
	again := s.equality(t, "4", 3, fields[1:], [][]any{{int64(1)}}) // below a younger one of the same key
	s.check(t, c, s.data("a", 5, 4, byID, again), 0, 1, 2)
}

// A column that the data file does not have is null in it, and one in a struct is found there.
func TestEqualityOfOtherSchemas(t *testing.T) {
	s := shelf{}
	s.put(t, "a", []record.Field{nameField}, [][]any{{"x"}, {"y"}})
	c := s.config(idField)
	byID := s.equality(t, "1", 5, []record.Field{idField}, [][]any{{nil}, {int64(1)}})
	s.check(t, c, s.data("a", 2, 4, byID), 0, 1)

	deep := record.Field{ID: 3, Name: "s", Type: record.Type{Kind: record.KindStruct, Fields: []record.Field{
		column(4, "x", record.KindDouble),
	}}}
	s.put(t, "b", []record.Field{deep}, [][]any{{math.NaN()}, {0.0}, {math.Copysign(0, -1)}, {nil}})
	byDeep := s.equality(t, "2", 5, []record.Field{deep}, [][]any{{-math.NaN()}, {0.0}})
	s.check(t, s.config(deep), s.data("b", 4, 4, byDeep), 0, 1)
	byNull := s.equality(t, "3", 5, []record.Field{deep}, [][]any{{nil}})
	s.check(t, s.config(deep), s.data("b", 4, 4, byNull), 3)
}

// What cannot be read is an error that says what.
func TestFindErrors(t *testing.T) {
	s := shelf{}
	s.put(t, "a", []record.Field{idField}, [][]any{{int64(1)}, {int64(2)}})
	vector := s.vector(t, "v", 1)
	cut := vector
	cut.Length--
	far := s.vector(t, "w", 2)
	more := vector
	more.Rows = 2
	outside := vector
	outside.Offset = 1 << 40
	noPath := s.equality(t, "n", 5, []record.Field{idField}, [][]any{{int64(1)}})
	noPath.Content = record.DeletePositions
	nobody := s.equality(t, "e", 5, []record.Field{idField}, [][]any{{int64(1)}})
	nobody.EqualityIDs = nil
	other := nobody
	other.EqualityIDs = []int{2}
	unknown := nobody
	unknown.EqualityIDs = []int{77}
	gone := record.DeleteFile{Path: "gone"}
	text := record.DeleteFile{Path: "text", SizeBytes: 20}
	s["text"] = []byte("this is not parquet.")
	for name, c := range map[string]struct {
		delete record.DeleteFile
		want   string
	}{
		"a row that there is not":  {s.positions(t, "p", [][]any{{"a", int64(2)}}), "row 2 of a, which has 2"},
		"no position":              {s.positions(t, "q", [][]any{{"a", nil}}), "no position"},
		"no column of paths":       {noPath, "no column of field id 2147483546"},
		"a vector that is cut":     {cut, "said to have"},
		"a vector of another file": {far, "row 2 of a file of 2"},
		"another cardinality":      {more, "has 1 rows, and is said to have 2"},
		"outside of the file":      {outside, "said to be"},
		"by no column":             {nobody, "by no column"},
		"by a column it lacks":     {other, "no column of field id 2"},
		"by an unknown column":     {unknown, "no column of field id 77"},
		"no such file":             {gone, "file does not exist"},
		"no Parquet":               {text, "no parquet file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Find(t.Context(), s.config(idField, nameField), []Data{s.data("a", 2, 1, c.delete)})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.delete.Path) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := Find(t.Context(), s.config(), []Data{{Path: "a", Rows: -1}}); err == nil {
		t.Error("no error for -1 rows")
	}
	both := []Data{s.data("a", 2, 1, vector), s.data("a", 2, 1, vector)}
	if _, err := Find(t.Context(), s.config(), both); err == nil {
		t.Error("no error for a vector of two files")
	}
	if _, err := Find(t.Context(), s.config(), both[:1]); errors.Is(err, fs.ErrNotExist) || err != nil {
		t.Error(err)
	}
}

// Random deletes of all kinds, beside a map of the rows, with all keys at once and in many parts.
func TestFindModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := shelf{}
		var data []Data
		live := make(map[string]bool)
		keys := make(map[string][]int64)
		numbers := rapid.Int64Range(0, 12)
		for i := range rapid.IntRange(1, 4).Draw(rt, "files") {
			path := fmt.Sprint("data", i)
			var rows [][]any
			for row, key := range rapid.SliceOfN(numbers, 1, 30).Draw(rt, "keys") {
				rows = append(rows, []any{key})
				keys[path] = append(keys[path], key)
				live[fmt.Sprint(path, row)] = true
			}
			s.put(rt, path, []record.Field{idField}, rows)
			data = append(data, s.data(path, len(rows), rapid.Int64Range(1, 9).Draw(rt, "sequence")))
		}
		for n := range rapid.IntRange(0, 5).Draw(rt, "deletes") {
			s.randomDelete(rt, n, data, keys, live)
		}
		c := s.config(idField)
		c.KeyBytesMax = rapid.SampledFrom([]int64{0, 100, 2000}).Draw(rt, "key bytes")
		found, err := Find(t.Context(), c, data)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range data {
			for row := range data[i].Rows {
				if found[i].Has(row) == live[fmt.Sprint(data[i].Path, row)] {
					rt.Fatalf("row %d of %s: deleted %v", row, data[i].Path, found[i].Has(row))
				}
			}
		}
	})
}

// randomDelete makes a delete file, and takes its rows out of the model.
func (s shelf) randomDelete(rt *rapid.T, n int, data []Data, keys map[string][]int64, live map[string]bool) {
	path := fmt.Sprint("delete", n)
	if rapid.Bool().Draw(rt, "equality") {
		sequence := rapid.Int64Range(1, 9).Draw(rt, "delete sequence")
		var rows [][]any
		for _, key := range rapid.SliceOfN(rapid.Int64Range(0, 12), 1, 4).Draw(rt, "deleted keys") {
			rows = append(rows, []any{key})
			for i := range data {
				for row, k := range keys[data[i].Path] {
					if k == key && data[i].Sequence < sequence {
						live[fmt.Sprint(data[i].Path, row)] = false
					}
				}
			}
		}
		d := s.equality(rt, path, sequence, []record.Field{idField}, rows)
		for i := range data {
			if data[i].Sequence < sequence {
				data[i].Deletes = append(data[i].Deletes, d)
			}
		}
		return
	}
	i := rapid.IntRange(0, len(data)-1).Draw(rt, "of")
	row := rapid.Int64Range(0, data[i].Rows-1).Draw(rt, "row")
	live[fmt.Sprint(data[i].Path, row)] = false
	d := s.vector(rt, path, uint64(row))
	if rapid.Bool().Draw(rt, "positions") {
		d = s.positions(rt, path, [][]any{{data[i].Path, row}, {"another", int64(5)}})
	}
	data[i].Deletes = append(data[i].Deletes, d)
}

func TestRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, 300).Draw(rt, "rows")
		r, want := newRows(n), make(map[int64]bool)
		for _, row := range rapid.SliceOf(rapid.Int64Range(-2, 302)).Draw(rt, "deleted") {
			if ok := r.add(row); ok != (row >= 0 && row < n) {
				rt.Fatalf("row %d of %d: %v", row, n, ok)
			} else if ok {
				want[row] = true
			}
		}
		first := rapid.Int64Range(0, n-1).Draw(rt, "first")
		count := rapid.IntRange(0, int(n-first)).Draw(rt, "count")
		others, some := []int32{}, false
		for i := range count {
			if want[first+int64(i)] {
				some = true
			} else {
				others = append(others, int32(i))
			}
		}
		got := r.Others([]int32{}, first, count)
		if !slices.Equal(got, others) || r.Any(first, count) != some || r.Count() != int64(len(want)) {
			rt.Fatalf("others %d, want %d; any %v; %d rows", got, others, r.Any(first, count), r.Count())
		}
	})
}

// FuzzVector reads vectors that may be anything, of a right checksum.
func FuzzVector(f *testing.F) {
	f.Add(vectorOf(f, 1, 5, 6, 7, 8, 9, 100_000)[8:])
	f.Add(vectorOf(f, 0)[8:])
	f.Add(vectorOf(f, 3, 1<<32)[8:])
	f.Fuzz(func(_ *testing.T, bitmap []byte) {
		framed := append(binary.LittleEndian.AppendUint32(nil, vectorMagic), bitmap...)
		out := binary.BigEndian.AppendUint32(nil, uint32(len(framed)))
		out = binary.BigEndian.AppendUint32(append(out, framed...), crc32.ChecksumIEEE(framed))
		rows := newRows(1 << 20)
		_ = readVector(out, &rows) // an error is as good as rows
		_ = readVector(bitmap, &rows)
	})
}
