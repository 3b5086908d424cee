package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"firn/internal/record"
)

func newFile(t *testing.T, s *record.Schema, o Options) *File {
	t.Helper()
	f, err := NewFile(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAppendTakesTheRows(t *testing.T) {
	s := textSchema()
	f := newFile(t, s, Options{})
	columns := columnsOf(s, texts(10, func(i int) int { return i }))
	if err := f.Append(columns, []int32{7, 2, 2}); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(columns, []int32{}); err != nil {
		t.Fatal(err)
	}
	// The file has copied: the caller's buffers are its own again.
	for _, b := range columns[0].Bytes {
		clear(b)
	}
	var out bytes.Buffer
	d, err := f.Finish(&out)
	if err != nil || d.Rows != 3 || f.Rows() != 3 {
		t.Fatalf("%v, %d and %d rows, want 3", err, d.Rows, f.Rows())
	}
	checkFile(t, s, texts(3, func(i int) int { return []int{7, 2, 2}[i] }), out.Bytes())
}

func TestRefusedAppendChangesNothing(t *testing.T) {
	long := record.Type{Kind: record.KindLong}
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "a", Type: long}, {ID: 2, Name: "l", Type: listOf(3, false, long)},
		{ID: 4, Name: "s", Type: structOf(record.Field{ID: 5, Name: "x", Type: record.Type{Kind: record.KindUUID}})},
	}}
	rows := [][]any{{int64(1), []any{int64(2)}, []any{[]byte("0123456789abcdef")}}}
	for _, c := range []struct {
		name, want string
		rows       []int32
		damage     func(c []record.Column) []record.Column
	}{
		{"too few columns", "got 2 columns", nil, func(c []record.Column) []record.Column { return c[:2] }},
		{"no columns", "got 0 columns", nil, func([]record.Column) []record.Column { return nil }},
		{"no field", "column a: it has no field", nil,
			func(c []record.Column) []record.Column { c[0].Field = nil; return c }},
		{"other order", "column a: got field 2 of type list", nil, func(c []record.Column) []record.Column {
			c[0],
				c[1] = c[1], c[0]
			return c
		}},
		{"other type", "column a: got field 1 of type int", nil, func(c []record.Column) []record.Column {
			c[0].Field = &record.Field{ID: 1, Type: record.Type{Kind: record.KindInt}}
			return c
		}},
		{"other length", "column l has 0 rows", nil, func(c []record.Column) []record.Column { c[1].Truncate(0); return c }},
		{"short validity", "0 validity marks", nil, func(c []record.Column) []record.Column { c[0].Valid = nil; return c }},
		{"short buffer", "buffer for type long has 0 values", nil,
			func(c []record.Column) []record.Column { c[0].Ints64 = nil; return c }},
		{"odd fixed buffer", "buffer for type uuid has -1 values", nil, func(c []record.Column) []record.Column {
			c[2].Children[0].Fixed = c[2].Children[0].Fixed[:15]
			return c
		}},
		{"short offsets", "offsets are not 2", nil,
			func(c []record.Column) []record.Column { c[1].Offsets = c[1].Offsets[:1]; return c }},
		{"falling offsets", "offsets are not 2", nil,
			func(c []record.Column) []record.Column { c[1].Offsets = []int32{1, 0}; return c }},
		{"offsets beyond", "offsets reach 9", nil, func(c []record.Column) []record.Column {
			c[1].Offsets = []int32{0,
				9}
			return c
		}},
		{"no element", "has 0 children", nil, func(c []record.Column) []record.Column { c[1].Children = nil; return c }},
		{"no struct field", "has 0 fields", nil, func(c []record.Column) []record.Column { c[2].Children = nil; return c }},
		{"short struct field", "has 0 values for 1 structs", nil,
			func(c []record.Column) []record.Column { c[2].Children[0].Truncate(0); return c }},
		{"row beyond", "row 1 is outside", []int32{0, 1}, nil},
		{"row before", "row -1 is outside", []int32{-1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFile(t, s, Options{})
			columns := columnsOf(s, rows)
			if c.damage != nil {
				columns = c.damage(columns)
			}
			if err := f.Append(columns, c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			data, _ := fillFile(t, f, s, rows, 1)
			checkFile(t, s, rows, data)
		})
	}
}

func TestBadValuesEndTheFile(t *testing.T) {
	decimal := func(p int) *record.Schema {
		return &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: record.Type{Kind: record.KindDecimal,
			Precision: p}}}}
	}
	required := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: structOf(
		record.Field{ID: 2, Name: "x", Required: true, Type: record.Type{Kind: record.KindLong}})}}}
	key := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: mapOf(2, false,
		record.Type{Kind: record.KindLong}, record.Type{Kind: record.KindLong})}}}
	for _, c := range []struct {
		name, want string
		schema     *record.Schema
		value      any
	}{
		{"null in a required field", "column c.x is required and null", required, []any{nil}},
		{"null as a key", "column c.key is required and null", key, []any{[2]any{nil, int64(1)}}},
		{"decimal of 9 digits", "column c: a decimal has more digits", decimal(9), int64(1000000000)},
		{"decimal of 18 digits", "column c: a decimal has more digits", decimal(18), int64(-1000000000000000000)},
		{"decimal of 19 digits", "column c: a decimal has more digits", decimal(19), append([]byte{1}, make([]byte, 15)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFile(t, c.schema, DefaultOptions())
			err := f.Append(columnsOf(c.schema, [][]any{{c.value}}), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if again := f.Append(columnsOf(c.schema, [][]any{{nil}}), nil); !errors.Is(again, err) {
				t.Errorf("append after it: %v, want %v", again, err)
			}
			if _, again := f.Finish(io.Discard); !errors.Is(again, err) {
				t.Errorf("finish after it: %v, want %v", again, err)
			}
			f.Reset()
			data, _ := fillFile(t, f, c.schema, [][]any{{nil}}, 1)
			checkFile(t, c.schema, [][]any{{nil}}, data)
		})
	}
}

func TestRowTooLargeForAPage(t *testing.T) {
	f := newFile(t, textSchema(), Options{})
	f.pageBytesLimit = 1000 // stands for the 32-bit sizes of a page header
	fits, large := [][]any{{make([]byte, 900)}}, [][]any{{make([]byte, 1100)}}
	if err := f.Append(columnsOf(textSchema(), fits), nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(columnsOf(textSchema(), large), nil); !errors.Is(err, errRowTooLarge) {
		t.Errorf("error %v, want %v", err, errRowTooLarge)
	}
}

func TestRowLargerThanAPage(t *testing.T) {
	rows := [][]any{{make([]byte, 10)}, {make([]byte, 100_000)}, {make([]byte, 10)}}
	data, _ := writeFile(t, textSchema(), rows, Options{PageBytesMax: 1 << 10, DictionaryBytesMax: 1 << 12}, 3)
	checkFile(t, textSchema(), rows, data)
}

func TestRowGroups(t *testing.T) {
	rows := texts(3000, func(i int) int { return i })
	data, d := writeFile(t, textSchema(), rows, Options{RowGroupBytesMax: 10 << 10, PageBytesMax: 1 << 10}, 100)
	checkFile(t, textSchema(), rows, data)
	meta := openFile(t, data).Metadata()
	if n := len(meta.RowGroups); n < 5 || n > 10 {
		t.Errorf("%d row groups of about 10 KiB for 78 KB", n)
	}
	var starts []int64
	for i, g := range meta.RowGroups {
		starts = append(starts, g.FileOffset)
		if int(g.Ordinal) != i {
			t.Errorf("row group %d has ordinal %d", i, g.Ordinal)
		}
	}
	if diff := cmp.Diff(starts, d.SplitOffsets); diff != "" {
		t.Errorf("split offsets (-footer +description):\n%s", diff)
	}
}

// TestRowGroupOrdinals checks that no ordinal passes 16 bits: the last row group takes the rest.
func TestRowGroupOrdinals(t *testing.T) {
	f := newFile(t, textSchema(), Options{RowGroupBytesMax: 1})
	f.rowGroupsMax = 5
	rows := texts(20, func(i int) int { return i })
	data, d := fillFile(t, f, textSchema(), rows, 1)
	checkFile(t, textSchema(), rows, data)
	if len(d.SplitOffsets) != 5 {
		t.Errorf("%d row groups, want 5", len(d.SplitOffsets))
	}
}

func TestFinishedFileMustBeReset(t *testing.T) {
	f := newFile(t, textSchema(), Options{})
	if _, err := f.Finish(io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(columnsOf(textSchema(), texts(1, func(int) int { return 1 })), nil); !errors.Is(err, ErrFinished) {
		t.Errorf("append: %v", err)
	}
	f.Reset()
	rows := texts(5, func(i int) int { return i })
	data, _ := fillFile(t, f, textSchema(), rows, 2)
	checkFile(t, textSchema(), rows, data)
}

// failingWriter fails at a byte.
type failingWriter struct{ left int }

var errDiskFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return w.left, errDiskFull
	}
	w.left -= len(b)
	return len(b), nil
}

// A file that could not be written is written again, to the byte as if nothing had happened.
func TestWriteErrorsAreReturnedAndNotFinal(t *testing.T) {
	rows := texts(300, func(i int) int { return i % 100 })
	o := Options{PageBytesMax: 1 << 10, DictionaryBytesMax: 1 << 10}
	data, described := writeFile(t, textSchema(), rows, o, len(rows))
	for _, left := range []int{0, 3, 100, len(data) / 2, len(data) - 300, len(data) - 100, len(data) - 1} {
		f := newFile(t, textSchema(), o)
		if err := f.Append(columnsOf(textSchema(), rows), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Finish(&failingWriter{left}); !errors.Is(err, errDiskFull) {
			t.Errorf("with room for %d of %d bytes: %v", left, len(data), err)
		}
		for range 2 {
			var out bytes.Buffer
			d, err := f.Finish(&out)
			if err != nil || !bytes.Equal(out.Bytes(), data) {
				t.Errorf("after room for %d bytes: %d bytes, want the same %d; error %v", left, out.Len(), len(data), err)
			}
			if diff := cmp.Diff(described, d); diff != "" {
				t.Errorf("after room for %d bytes: %s", left, diff)
			}
		}
	}
}

func TestPageRows(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "n", Required: true, Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "l", Type: listOf(3, false, record.Type{Kind: record.KindString})},
	}}
	var rows [][]any
	for i := range 1000 {
		rows = append(rows, []any{int64(i), []any{[]byte("a"), nil, []byte("b")}[:i%4]})
	}
	for _, dictionary := range []int{0, 1 << 10} {
		data, _ := writeFile(t, s, rows, Options{PageRowsMax: 100, DictionaryBytesMax: dictionary}, 333)
		checkFile(t, s, rows, data)
		for i, index := range openFile(t, data).OffsetIndexes() {
			for p, page := range index.PageLocations {
				if page.FirstRowIndex != int64(100*p) {
					t.Errorf("column %d: page %d starts at row %d, want %d", i, p, page.FirstRowIndex, 100*p)
				}
			}
			if n := len(index.PageLocations); n != 10 {
				t.Errorf("column %d has %d pages, want 10", i, n)
			}
		}
	}
}

// TestChecksums damages the last byte of each page, which only a CRC can tell where values are as they are.
func TestChecksums(t *testing.T) {
	for _, o := range []Options{
		{PageVersion: 1}, {PageVersion: 2}, {DictionaryBytesMax: 1 << 10},
		{PageVersion: 2, Codec: CodecSnappy}, {DictionaryBytesMax: 1 << 10, Codec: CodecSnappy},
	} {
		o.PageChecksums, o.PageBytesMax, o.PageRowsMax = true, 1<<10, 100
		rows := texts(400, func(i int) int { return i % 5 })
		data, _ := writeFile(t, textSchema(), rows, o, 7)
		checkFile(t, textSchema(), rows, data)
		m := &openFile(t, data).Metadata().RowGroups[0].Columns[0].MetaData
		ends := []int64{m.DataPageOffset} // of a dictionary, if there is one
		for _, p := range openFile(t, data).OffsetIndexes()[0].PageLocations {
			ends = append(ends, p.Offset+int64(p.CompressedPageSize))
		}
		if m.DictionaryPageOffset == 0 {
			ends = ends[1:]
		}
		if len(ends) < 4 {
			t.Fatalf("%+v: %d pages", o, len(ends))
		}
		for _, end := range ends {
			damaged := bytes.Clone(data)
			damaged[end-1] ^= 0x10
			if err := readFirstColumn(openFile(t, damaged)); !errors.Is(err, pq.ErrCorrupted) {
				t.Errorf("%+v: damage before byte %d is read: %v", o, end, err)
			}
		}
	}
}

func readFirstColumn(f *pq.File) error {
	pages := f.RowGroups()[0].ColumnChunks()[0].Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		pq.Release(page)
	}
}

// TestMemory checks what the limits of a process rest on: a file holds about its encoded size, an empty one next to
// nothing, and the estimate of the size is near.
func TestMemory(t *testing.T) {
	s := referenceSchema()
	o := DefaultOptions()
	o.PageBytesMax = 64 << 10
	f := newFile(t, s, o)
	if held := f.BufferedBytes(); held > 1<<10 {
		t.Errorf("a new file holds %d bytes", held)
	}
	columns := referenceBatch(s, 5000, 0) // 75 pages
	for range 2 {
		if err := f.Append(columns, nil); err != nil {
			t.Fatal(err)
		}
	}
	held, estimate := f.BufferedBytes(), f.EncodedBytes()
	d, err := f.Finish(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if held > d.SizeBytes+d.SizeBytes/8 {
		t.Errorf("held %d bytes for a file of %d", held, d.SizeBytes)
	}
	if estimate < d.SizeBytes*9/10 || estimate > d.SizeBytes*11/10 {
		t.Errorf("estimated %d bytes for a file of %d", estimate, d.SizeBytes)
	}
	f.Reset()
	if held := f.BufferedBytes(); held > 64<<10 {
		t.Errorf("an empty file holds %d bytes", held)
	}
}

// TestSizeEstimate checks that an open page is taken for what it will be, not for what it holds: target sizes of files
// and row groups rest on it.
func TestSizeEstimate(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: record.Type{Kind: record.KindLong}}}}
	for name, value := range map[string]func(i int) int64{
		"a sequence":    func(i int) int64 { return int64(i) },
		"few values":    func(i int) int64 { return int64(i % 100) },
		"many and wide": func(i int) int64 { return int64(i) * 0x1E3779B97F4A7C15 },
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{DictionaryBytesMax: 1 << 20, PageBytesMax: 64 << 10, Encodings: EncodingsAuto}
			f := newFile(t, s, o)
			rows := make([][]any, 30000) // pages of 8,000 numbers or 20,000 indices, the last one not full
			for i := range rows {
				rows[i] = []any{value(i)}
			}
			if err := f.Append(columnsOf(s, rows), nil); err != nil {
				t.Fatal(err)
			}
			estimate := f.EncodedBytes()
			d, err := f.Finish(io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if off := estimate - d.SizeBytes; max(off, -off) > 1000+d.SizeBytes/20 {
				t.Errorf("estimated %d bytes for a file of %d", estimate, d.SizeBytes)
			}
		})
	}
}

func TestSmallFileAllocations(t *testing.T) {
	s := referenceSchema()
	o := DefaultOptions()
	o.Pool = NewPool(1 << 20)
	f, columns := newFile(t, s, o), referenceBatch(s, 10, 0)
	rows := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	got := testing.AllocsPerRun(20, func() {
		if err := f.Append(columns, rows); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Finish(io.Discard); err != nil {
			t.Fatal(err)
		}
		f.Reset()
	})
	// 32 when this was written, most of them in the description and the bounds.
	if got > 45 {
		t.Errorf("%v allocations for a small file", got)
	}
}

// TestSharedPool lets many goroutines write different files with one pool: the race detector looks on, and every file
// has its own bytes.
func TestSharedPool(t *testing.T) {
	pool := NewPool(1 << 20)
	var wait sync.WaitGroup
	files := make([][]byte, 8)
	for i := range files {
		f := newFile(t, textSchema(), Options{Codec: CodecZstd, PageBytesMax: 4 << 10, DictionaryBytesMax: 1 << 12,
			Encodings: EncodingsAuto, Blooms: map[int]Bloom{1: {}}, Pool: pool})
		wait.Go(func() {
			for range 3 {
				f.Reset()
				var out bytes.Buffer
				for n := range 20 {
					if err := f.Append(columnsOf(textSchema(), texts(50, func(k int) int { return i*1000 + n + k })),
						nil); err != nil {
						t.Error(err)
					}
				}
				if _, err := f.Finish(&out); err != nil {
					t.Error(err)
				}
				files[i] = out.Bytes()
			}
		})
	}
	wait.Wait()
	for i, data := range files {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			checkFile(t, textSchema(), texts(1000, func(k int) int { return i*1000 + k/50 + k%50 }), data)
		})
	}
}

func TestPoolKeepsToItsLimit(t *testing.T) {
	p := NewPool(10 << 10)
	for range 10 {
		p.put(make([]byte, 0, 4<<10))
	}
	p.put(make([]byte, 0, 5000)) // not of a class
	if p.idleBytes != 8<<10 {
		t.Errorf("%d idle bytes, want two buffers of 4 KiB", p.idleBytes)
	}
	if b := p.get(4000); cap(b) != 4<<10 || p.idleBytes != 4<<10 {
		t.Errorf("got a buffer of %d, %d bytes stay idle", cap(b), p.idleBytes)
	}
	for _, n := range []int{0, 1, 511, 512, 513, 1 << 20, 1<<20 + 1} {
		if b := p.get(n); cap(b) < n || len(b) != 0 {
			t.Errorf("get(%d) has length %d and capacity %d", n, len(b), cap(b))
		}
	}
}
