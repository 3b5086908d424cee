package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"firn/internal/record"
)

// seedFiles are small files of many kinds.
func seedFiles(t tb) [][]byte {
	t.Helper()
	var out [][]byte
	for i, c := range matrix() {
		if i%7 == 0 {
			data, _ := writeFile(t, c.schema, repeat(c.rows, 40), Options{Codec: Codec(i % 5), PageBytesMax: 512,
				DictionaryBytesMax: i % 2 << 10, PageVersion: 1 + i%3/2, PageRowsMax: 9, PageChecksums: i%3 == 0}, 7)
			out = append(out, data)
		}
	}
	return out
}

// FuzzFooter reads footers that may be anything: an error or a footer whose places are all inside of the file.
func FuzzFooter(f *testing.F) {
	for _, data := range seedFiles(f) {
		f.Add(data)
		length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		f.Add(data[len(data)-8-length:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		footer, err := ReadFooter(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, g := range footer.groups {
			for i := range g.chunks {
				c := &g.chunks[i]
				if c.from < 4 || c.from+c.size > int64(len(data)) {
					t.Fatalf("a chunk of %d bytes at %d in a file of %d", c.size, c.from, len(data))
				}
				if _, _, err := footer.readPageIndex(bytes.NewReader(data), c, g.rows); err != nil {
					t.Fatalf("reading an index inside of the file: %v", err)
				}
			}
		}
	})
}

// FuzzJoin joins files that may be anything with themselves and with a sound one: an error, or a file that can be
// joined again.
func FuzzJoin(f *testing.F) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "tags", Type: listOf(3, false, record.Type{Kind: record.KindString})},
	}}
	var rows [][]any
	for i := range 60 {
		rows = append(rows, []any{int64(i % 7), []any{[]byte{byte('a' + i%5)}, nil}[:i%3]})
	}
	sound := partOf(f, s, rows[:30], Options{Codec: CodecSnappy, DictionaryBytesMax: 1 << 10, PageRowsMax: 11})
	for i := range 20 {
		data, _ := writeFile(f, s, rows, Options{Codec: Codec(i % 5), PageVersion: 1 + i%2, PageRowsMax: 9 + i,
			DictionaryBytesMax: i % 3 << 10}, 10)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := Part{Bytes: bytes.NewReader(data), SizeBytes: int64(len(data))}
		footer, err := ReadFooter(p.Bytes, p.SizeBytes)
		if err != nil {
			return
		}
		p.File.Rows = footer.Rows
		var out bytes.Buffer
		o := JoinOptions{Schema: s, Options: Options{DictionaryBytesMax: 1 << 10}}
		joined, err := Join(t.Context(), &out, []Part{sound, p, p}, o)
		if err != nil {
			return
		}
		again := asPart(out.Bytes(), joined.File)
		if _, err := Join(t.Context(), io.Discard, []Part{again, again}, o); err != nil {
			t.Fatalf("what was joined cannot be joined: %v", err)
		}
	})
}

// TestDamage joins files with bytes that were changed: an error, or a file of as many rows that can be joined again.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	cases, refused := matrix(), 0
	for i := 0; i < len(cases); i += 5 {
		c := cases[i]
		rows := repeat(c.rows, 60)
		data, d := writeFile(t, c.schema, rows, Options{Codec: Codec(i % 5), PageBytesMax: 512,
			DictionaryBytesMax: 1 << 10, PageVersion: 1 + i%2, PageRowsMax: 9}, 7)
		sound := partOf(t, c.schema, c.rows, Options{DictionaryBytesMax: 1 << 10})
		o := JoinOptions{Schema: c.schema, Options: Options{DictionaryBytesMax: 1 << 10}}
		for range 100 {
			bad := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32())
			}
			var out bytes.Buffer
			joined, err := Join(t.Context(), &out, []Part{sound, asPart(bad, d), asPart(data, d)}, o)
			if err != nil {
				refused++
				continue
			}
			if want := int64(len(c.rows) + 2*len(rows)); joined.File.Rows != want {
				t.Fatalf("%s: %d rows, want %d", c.name, joined.File.Rows, want)
			}
			if _, err := Join(t.Context(), io.Discard, []Part{asPart(out.Bytes(), joined.File)}, o); err != nil {
				t.Fatalf("%s: what was joined cannot be joined: %v", c.name, err)
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was found")
	}
}

func TestReadFooterSaysWhatIsWrong(t *testing.T) {
	s, rows := referenceSchema(), words("a", 10, 10)
	data, _ := writeFile(t, s, rows, Options{}, 10)
	change := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(data)) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":     {nil, "shorter than"},
		"cut":       {data[:len(data)-1], "cut off"},
		"text":      {[]byte(strings.Repeat("a,b\n", 10)), "no parquet file"},
		"encrypted": {change(func(b []byte) []byte { return append(b[:len(b)-4], "PARE"...) }), "encrypted"},
		"length": {change(func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[len(b)-8:], 1<<31)
			return b
		}), "said to have 2147483648 bytes"},
		"footer": {append(bytes.Repeat([]byte{0xFF}, 100), "\x40\x00\x00\x00PAR1"...), "at byte"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadFooter(bytes.NewReader(c.data), int64(len(c.data)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := ReadFooter(bytes.NewReader(data[:20]), int64(len(data))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v for a file that is shorter than it is said to be", err)
	}
}

// TestReadFooter reads long footers, too, which take a second read.
func TestReadFooter(t *testing.T) {
	s := &record.Schema{ID: 4}
	for i := range 900 {
		s.Fields = append(s.Fields, record.Field{ID: i + 1, Name: strings.Repeat("name", 20) + string(rune('a'+i)),
			Type: record.Type{Kind: record.KindInt}})
	}
	row := make([]any, len(s.Fields))
	data, _ := writeFile(t, s, [][]any{row, row}, Options{CreatedBy: "us"}, 10)
	r := &countingReader{Reader: bytes.NewReader(data)}
	f, err := ReadFooter(r, int64(len(data)))
	if err != nil || f.Rows != 2 || f.CreatedBy != "us" || len(f.leaves) != 900 || len(f.groups) != 1 {
		t.Fatalf("footer %+v, error %v", f, err)
	}
	if len(r.reads) != 2 {
		t.Errorf("reads of %d bytes, want 2 reads", r.reads)
	}
}
