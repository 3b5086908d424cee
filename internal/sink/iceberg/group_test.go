package iceberg

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"firn/internal/record"
	"firn/internal/table"
)

// mustNumber compares a grouping with one by a map.
func mustNumber(t *testing.T, g *grouping, key func(i int) string, rows int) {
	t.Helper()
	codes := map[string]int32{}
	for i := range rows {
		want, ok := codes[key(i)]
		if !ok {
			want = int32(len(codes))
			codes[key(i)] = want
			if g.firsts[want] != int32(i) {
				t.Fatalf("code %d begins at row %d, want %d", want, g.firsts[want], i)
			}
		}
		if g.codes[i] != want {
			t.Fatalf("row %d: code %d, want %d", i, g.codes[i], want)
		}
	}
	if len(g.firsts) != len(codes) {
		t.Fatalf("%d codes, want %d", len(g.firsts), len(codes))
	}
	order, ends := g.scatter(nil, nil)
	from := int32(0)
	for code, end := range ends {
		for at := from; at < end; at++ {
			if g.codes[order[at]] != int32(code) || at > from && order[at] <= order[at-1] {
				t.Fatalf("code %d: rows %v", code, order[from:end])
			}
		}
		from = end
	}
	if int(from) != rows {
		t.Fatalf("%d rows were put in order, want %d", from, rows)
	}
}

// One grouping is used for blocks of all sorts in turn.
func TestGroupingAgreesWithAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := &grouping{seed: maphash.MakeSeed()}
	for round := range 300 {
		rows, distinct := 1+r.IntN(3000), 1+r.IntN(1<<r.IntN(12))
		ints, texts, valid := make([]int64, rows), make([][]byte, rows), make([]bool, rows)
		for i := range rows {
			ints[i], valid[i] = int64(r.IntN(distinct)), r.IntN(5) > 0
			if i > 0 && r.IntN(2) == 0 {
				ints[i] = ints[i-1]
			}
			texts[i] = binary.AppendVarint(nil, ints[i])[:r.IntN(2)]
		}
		key := func(value func(i int) any) func(i int) string {
			return func(i int) string {
				if !valid[i] {
					return "null"
				}
				return fmt.Sprint(value(i))
			}
		}
		g.small(ints, valid, distinct)
		mustNumber(t, g, key(func(i int) any { return ints[i] }), rows)
		g.texts(texts, valid)
		mustNumber(t, g, key(func(i int) any { return texts[i] }), rows)
		if round%2 == 0 {
			for i := range ints {
				ints[i] = int64(spread(ints[i])) // any integers
			}
		}
		g.integers(ints, valid)
		mustNumber(t, g, key(func(i int) any { return ints[i] }), rows)
	}
}

// routes partitions a schema of an id, a timestamp and a text in the ways of the benchmark.
func routes() (*record.Schema, map[string][]table.PartitionField) {
	schema := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "id", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "at", Type: record.Type{Kind: record.KindTimestampTZ}},
		{ID: 3, Name: "text", Type: record.Type{Kind: record.KindString}},
	}}
	whole := record.Type{Kind: record.KindInt}
	bucket := table.PartitionField{SourceID: 1, FieldID: 1000, Name: "b", Transform: "bucket", Param: 64, Result: whole}
	day := table.PartitionField{SourceID: 2, FieldID: 1001, Name: "d", Transform: "day", Result: whole}
	text := table.PartitionField{
		SourceID: 3, FieldID: 1002, Name: "t", Transform: "identity", Result: schema.Fields[2].Type,
	}
	return schema, map[string][]table.PartitionField{
		"bucket": {bucket}, "day": {day}, "text": {text}, "bucket and day": {bucket, day},
	}
}

// routed is rows of the schema of routes: 64 texts, and days at random.
func routed(schema *record.Schema, rows, days int) []record.Column {
	r := rand.New(rand.NewPCG(1, 2))
	columns := record.NewColumns(schema.Fields)
	for i := range rows {
		for c := range columns {
			columns[c].Grow()
			columns[c].Valid[i] = true
		}
		columns[0].Ints64[i] = int64(r.Uint64())
		columns[1].Ints64[i] = int64(r.IntN(days)) * 86_400_000_000
		columns[2].Bytes[i] = fmt.Appendf(nil, "text %d", r.IntN(64))
	}
	return columns
}

// Steady work allocates nothing: neither for rows, nor for partitions that were met before.
func TestSplitAllocatesNothing(t *testing.T) {
	schema, ways := routes()
	columns := routed(schema, 1000, 300)
	for name, fields := range ways {
		t.Run(name, func(t *testing.T) {
			terms, err := newTerms(schema, fields)
			if err != nil {
				t.Fatal(err)
			}
			s, g := newSplitter(terms), newGeneration(&Writer{options: Options{Writers: 1, NewID: counter("flush")}}, nil)
			n := testing.AllocsPerRun(20, func() {
				for _, rows := range s.split(columns, 1000) {
					s.find(g, rows)
				}
				s.forget()
			})
			if n != 0 {
				t.Errorf("%.0f allocations a block", n)
			}
		})
	}
}

// What a row's routing costs, its append left out: 4,000 rows of 1 KB are a block.
func BenchmarkSplit(b *testing.B) {
	const rows = 4000
	schema, ways := routes()
	columns := routed(schema, rows, 3000)
	for name, fields := range ways {
		b.Run(name, func(b *testing.B) {
			terms, err := newTerms(schema, fields)
			if err != nil {
				b.Fatal(err)
			}
			s, g := newSplitter(terms), newGeneration(&Writer{options: Options{Writers: 1, NewID: counter("flush")}}, nil)
			b.ReportAllocs()
			for b.Loop() {
				for _, rows := range s.split(columns, rows) {
					s.find(g, rows)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
