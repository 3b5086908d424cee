package matrix

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"firn/internal/parquet"
	"firn/internal/record"
)

// cell is one combination of options.
type cell struct {
	name     string
	options  parquet.Options
	bloom    bool  // every column that can has a bloom filter
	variants []int // which of each dimension
}

// variant is one place of a dimension.
type variant struct {
	name string
	set  func(c *cell)
}

func codec(codec parquet.Codec, level int) func(*cell) {
	return func(c *cell) { c.options.Codec, c.options.Level = codec, level }
}

func pageVersion(n int) func(*cell) {
	return func(c *cell) { c.options.PageVersion = n }
}

func encodings(e parquet.Encodings) func(*cell) {
	return func(c *cell) { c.options.Encodings = e }
}

func dictionary(bytesMax int) func(*cell) {
	return func(c *cell) { c.options.DictionaryBytesMax = bytesMax }
}

func bloom(wanted bool) func(*cell) {
	return func(c *cell) { c.bloom = wanted }
}

// codecs is every codec, those with levels at several.
func codecs() []variant {
	return []variant{
		{"none", codec(parquet.CodecNone, 0)}, {"snappy", codec(parquet.CodecSnappy, 0)},
		{"lz4_raw", codec(parquet.CodecLZ4Raw, 0)}, {"gzip-1", codec(parquet.CodecGzip, 1)},
		{"gzip-9", codec(parquet.CodecGzip, 9)}, {"zstd-1", codec(parquet.CodecZstd, 1)},
		{"zstd-3", codec(parquet.CodecZstd, 3)}, {"zstd-9", codec(parquet.CodecZstd, 9)},
		{"zstd-19", codec(parquet.CodecZstd, 19)},
	}
}

// layouts is what else a file can be written with. A dictionary of 64 bytes is full soon, so that chunks begin with
// indices and go on without.
func layouts() [][]variant {
	return [][]variant{
		{{"v1", pageVersion(1)}, {"v2", pageVersion(2)}},
		{{"compatible", encodings(parquet.EncodingsCompatible)}, {"auto", encodings(parquet.EncodingsAuto)}},
		{{"plain", dictionary(0)}, {"fallback", dictionary(64)}, {"dictionary", dictionary(1 << 20)}},
		{{"", bloom(false)}, {"bloom", bloom(true)}},
	}
}

// cells is all combinations of codecs and layouts.
func cells() []cell { return cross(append([][]variant{codecs()}, layouts()...)) }

// cellsOfEachCodec is few of them, in which each two options meet, and each codec is there with one level.
func cellsOfEachCodec() []cell {
	one := slices.DeleteFunc(codecs(), func(v variant) bool {
		return slices.Contains([]string{"gzip-9", "zstd-1", "zstd-9", "zstd-19"}, v.name)
	})
	return pairs(cross(append([][]variant{one}, layouts()...)))
}

const (
	pageBytes     = 512
	pageRows      = 20
	rowGroupBytes = 20 << 10
	appendRows    = 25 // a row group ends between appends only
)

// cross is all combinations.
func cross(dimensions [][]variant) []cell {
	cells := []cell{{options: parquet.Options{
		PageBytesMax: pageBytes, PageRowsMax: pageRows, RowGroupBytesMax: rowGroupBytes,
	}}}
	for _, d := range dimensions {
		var next []cell
		for _, c := range cells {
			for i, v := range d {
				with := c
				with.name = strings.Trim(c.name+"."+v.name, ".")
				with.variants = append(slices.Clip(c.variants), i)
				v.set(&with)
				next = append(next, with)
			}
		}
		cells = next
	}
	return cells
}

// pairs is few of the cells, in which each two variants of different dimensions still meet: always the next cell with
// the most pairs that have not met yet.
func pairs(cells []cell) []cell {
	type pair struct{ d1, v1, d2, v2 int }
	met := map[pair]bool{}
	pairsOf := func(c *cell) []pair {
		var out []pair
		for i, v := range c.variants {
			for j := range i {
				if p := (pair{j, c.variants[j], i, v}); !met[p] {
					out = append(out, p)
				}
			}
		}
		return out
	}
	var chosen []cell
	for {
		best, most := 0, []pair(nil)
		for i := range cells {
			if p := pairsOf(&cells[i]); len(p) > len(most) {
				best, most = i, p
			}
		}
		if most == nil {
			return chosen
		}
		for _, p := range most {
			met[p] = true
		}
		chosen = append(chosen, cells[best])
	}
}

// write is the file of a dataset in a cell.
func (c *cell) write(t *testing.T, d *dataset) []byte {
	t.Helper()
	o := c.options
	if c.bloom {
		o.Blooms = map[int]parquet.Bloom{}
		addBlooms(o.Blooms, d.schema.Fields)
	}
	f, err := parquet.NewFile(d.schema, o)
	if err != nil {
		t.Fatal(err)
	}
	for rows := d.rows; len(rows) > 0; rows = rows[min(appendRows, len(rows)):] {
		if err := f.Append(columnsOf(d.schema, rows[:min(appendRows, len(rows))]), nil); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := f.Finish(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// addBlooms asks for a filter of every column that can have one: booleans have none.
func addBlooms(out map[int]parquet.Bloom, fields []record.Field) {
	for i := range fields {
		f := &fields[i]
		addBlooms(out, f.Type.Fields)
		if f.Type.Fields == nil && f.Type.Kind != record.KindBoolean {
			out[f.ID] = parquet.Bloom{}
		}
	}
}
