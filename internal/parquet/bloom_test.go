package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"firn/internal/record"
)

// bloomsOf asks for a filter of every column that can have one.
func bloomsOf(t *testing.T, s *record.Schema) map[int]Bloom {
	t.Helper()
	l, err := newLayout(s)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]Bloom{}
	for i := range l.leaves {
		if l.leaves[i].physical != format.Boolean {
			out[l.leaves[i].id] = Bloom{}
		}
	}
	return out
}

// checkBlooms lets parquet-go look every value of every chunk up in the chunk's filter.
func checkBlooms(t *testing.T, data []byte) {
	t.Helper()
	f := openFile(t, data)
	for g, group := range f.RowGroups() {
		for i, chunk := range group.ColumnChunks() {
			filter := chunk.BloomFilter()
			if chunk.Type().Kind() == pq.Boolean {
				continue
			}
			if filter == nil {
				t.Fatalf("row group %d, column %d has no filter", g, i)
			}
			for _, v := range valuesOf(t, chunk) {
				if ok, err := filter.Check(v); !ok || err != nil {
					t.Fatalf("row group %d, column %d: %v is not in the filter: %v", g, i, v, err)
				}
			}
		}
	}
}

func valuesOf(t *testing.T, chunk pq.ColumnChunk) []pq.Value {
	t.Helper()
	var out []pq.Value
	eachPage(t, chunk, func(values []pq.Value) {
		for _, v := range values {
			if !v.IsNull() {
				out = append(out, v.Clone())
			}
		}
	})
	return out
}

func TestBloomsHoldAllValues(t *testing.T) {
	for _, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			for _, dictionary := range []int{0, 16, 1 << 20} {
				rows := repeat(c.rows, 100)
				o := Options{PageBytesMax: 1 << 10, DictionaryBytesMax: dictionary, RowGroupBytesMax: 1 << 12,
					Blooms: bloomsOf(t, c.schema), BloomBytesMax: 256}
				data, _ := writeFile(t, c.schema, rows, o, 7)
				checkFile(t, c.schema, rows, data)
				checkBlooms(t, data)
			}
		})
	}
}

// TestBloomSizes checks that a filter is as large as its values need, and lets no more through than it should.
func TestBloomSizes(t *testing.T) {
	for _, c := range []struct {
		name               string
		rows, different    int
		bloom              Bloom
		bytesMax           int
		sizeWant           int
		shareMin, shareMax float64
	}{
		{"no value", 0, 1, Bloom{}, 0, 32, 0, 0},
		{"one value", 1, 1, Bloom{}, 0, 32, 0, 0.01},
		{"1 % of 10,000", 10000, 10000, Bloom{}, 0, 16 << 10, 0, 0.011},
		{"10 % of 10,000", 10000, 10000, Bloom{FalseShare: 0.1}, 0, 8 << 10, 0, 0.11},
		{"one in 10,000", 10000, 10000, Bloom{FalseShare: 0.0001}, 0, 32 << 10, 0, 0.0005},
		{"few values, often", 50000, 100, Bloom{}, 0, 256, 0, 0.01},
		{"more than hashes are kept", 30000, 30000, Bloom{}, 64 << 10, 64 << 10, 0, 0.011},
		{"few values, more often than hashes are kept", 30000, 300, Bloom{}, 64 << 10, 512, 0, 0.02},
		{"no room", 10000, 10000, Bloom{}, 1 << 10, 1 << 10, 0.5, 1},
		{"room that is no power of two", 10000, 10000, Bloom{}, 3000, 2048, 0.5, 1},
		{"for fewer values", 10000, 10000, Bloom{ValuesMax: 1000}, 0, 2048, 0.5, 1},
		{"for more values", 100, 100, Bloom{ValuesMax: 1000}, 0, 128, 0, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			filter := longFilter(t, c.rows, c.different, Options{
				Blooms: map[int]Bloom{1: c.bloom}, BloomBytesMax: c.bytesMax, DictionaryBytesMax: 0})
			if filter.Size() != int64(c.sizeWant) {
				t.Errorf("%d bytes, want %d", filter.Size(), c.sizeWant)
			}
			const probes = 100000
			through := 0
			for i := range probes {
				if ok, err := filter.Check(pq.ValueOf(int64(-1 - i))); err != nil {
					t.Fatal(err)
				} else if ok {
					through++
				}
			}
			if share := float64(through) / probes; share < c.shareMin || share > c.shareMax {
				t.Errorf("%v of absent values pass, want between %v and %v", share, c.shareMin, c.shareMax)
			}
		})
	}
}

// longFilter writes a column of numbers and, first, one null, and returns its filter.
func longFilter(t *testing.T, rows, different int, o Options) pq.BloomFilter {
	t.Helper()
	s := &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: record.Type{Kind: record.KindLong}}}}
	values := [][]any{{nil}}
	for i := range rows {
		values = append(values, []any{int64(i % different)})
	}
	f := newFile(t, s, o)
	columns := columnsOf(s, values)
	if err := f.Append(columns, nil); err != nil {
		t.Fatal(err)
	}
	estimate := f.EncodedBytes()
	var out bytes.Buffer
	d, err := f.Finish(&out)
	if err != nil {
		t.Fatal(err)
	}
	if estimate < d.SizeBytes*3/4 {
		t.Errorf("estimated %d bytes for a file of %d", estimate, d.SizeBytes)
	}
	f.Reset()
	if held := f.BufferedBytes(); held > 64<<10 {
		t.Errorf("an empty file holds %d bytes", held)
	}
	return openFile(t, out.Bytes()).RowGroups()[0].ColumnChunks()[0].BloomFilter()
}

// A reader that looks for 0 must find -0, which is equal to it.
func TestBloomHoldsBothZeros(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "f", Type: record.Type{Kind: record.KindFloat}},
		{ID: 2, Name: "d", Type: record.Type{Kind: record.KindDouble}},
	}}
	minus := math.Copysign(0, -1)
	for _, row := range [][]any{{float32(0), minus}, {float32(minus), 0.0}} {
		data, _ := writeFile(t, s, [][]any{row}, Options{Blooms: bloomsOf(t, s)}, 1)
		chunks := openFile(t, data).RowGroups()[0].ColumnChunks()
		for i, vs := range [][]pq.Value{
			{pq.ValueOf(float32(0)), pq.ValueOf(float32(minus))}, {pq.ValueOf(0.0), pq.ValueOf(minus)},
		} {
			for _, v := range vs {
				if ok, err := chunks[i].BloomFilter().Check(v); !ok || err != nil {
					t.Errorf("%v in a file of %v: %v, %v", v, row[i], ok, err)
				}
			}
		}
	}
}

// Filters lie between page index and footer, and only those that were asked for.
func TestBloomPlaces(t *testing.T) {
	s := referenceSchema()
	o := Options{PageBytesMax: 4 << 10, RowGroupBytesMax: 64 << 10, Blooms: map[int]Bloom{2: {}}}
	f := newFile(t, s, o)
	if err := f.Append(referenceBatch(s, 20000, 0), nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := f.Finish(&out); err != nil {
		t.Fatal(err)
	}
	groups := openFile(t, out.Bytes()).Metadata().RowGroups
	if len(groups) < 2 {
		t.Fatalf("%d row groups, want more", len(groups))
	}
	last := &groups[len(groups)-1].Columns[1]
	at := last.OffsetIndexOffset + int64(last.OffsetIndexLength)
	for g := range groups {
		if m := &groups[g].Columns[0].MetaData; m.BloomFilterOffset != 0 || m.BloomFilterLength != 0 {
			t.Errorf("row group %d: a filter at %d for a column without", g, m.BloomFilterOffset)
		}
		m := &groups[g].Columns[1].MetaData
		if m.BloomFilterOffset != at {
			t.Errorf("row group %d: the filter is at %d, want %d", g, m.BloomFilterOffset, at)
		}
		at += int64(m.BloomFilterLength)
	}
	tail := out.Bytes()[out.Len()-8:]
	if footer := int64(out.Len()) - 8 - int64(binary.LittleEndian.Uint32(tail)); at != footer {
		t.Errorf("filters end at %d, the footer starts at %d", at, footer)
	}
}

// TestBloomFolds compares a folded filter with one that was made at its size.
func TestBloomFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfN(rapid.Uint64(), 0, 50).Draw(t, "hashes")
		size := bloomBlockBytes << rapid.IntRange(1, 6).Draw(t, "size")
		large, small := make([]byte, size), make([]byte, size/2)
		for _, h := range hashes {
			bloomInsert(large, h)
			bloomInsert(small, h)
		}
		share := bloomFoldedShare(large)
		if folded := bloomFold(large); !bytes.Equal(folded, small) {
			t.Fatalf("got %x, want %x", folded, small)
		}
		if want := passing(small); math.Abs(share-want) > 1e-12 {
			t.Fatalf("share %v, want %v", share, want)
		}
	})
}

// passing is the share of hashes that a filter lets through, block by block from its bits.
func passing(filter []byte) float64 {
	total := 0.0
	for at := 0; at < len(filter); at += bloomBlockBytes {
		share := 1.0
		for word := at; word < at+bloomBlockBytes; word += 4 {
			set := 0
			for bit := range 32 {
				set += int(filter[word+bit/8] >> (bit % 8) & 1)
			}
			share *= float64(set) / 32
		}
		total += share
	}
	return total / float64(len(filter)/bloomBlockBytes)
}

func TestBloomRefusals(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "b", Type: record.Type{Kind: record.KindBoolean}},
		{ID: 2, Name: "l", Type: listOf(3, false, record.Type{Kind: record.KindLong})},
	}}
	for id, want := range map[int]string{
		1: "column b: it is of booleans", 2: "field 2: there is no column", 9: "field 9: there is no column",
	} {
		_, err := NewFile(s, Options{Blooms: map[int]Bloom{id: {}}})
		checkRefusal(t, fmt.Sprint("field ", id), err, want)
	}
}
