package parquet

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"firn/internal/record"
)

// TestCompareBounds orders what the writer writes as the values are, in both forms of bounds.
func TestCompareBounds(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				l, err := newLeafType(s.typ)
				if err != nil {
					rt.Fatal(err)
				}
				f := record.Field{Type: s.typ}
				a, b := plainOf(&s.typ, primitive(rt, s.typ, false)), plainOf(&s.typ, primitive(rt, s.typ, false))
				single := [2][]byte{boundForm(&f.Type, a), boundForm(&f.Type, b)}
				want := compareBounds(&f.Type, single[0], single[1])
				if x, ok := floatOf(&f.Type, a); ok {
					y, _ := floatOf(&f.Type, b)
					if x == 0 && y == 0 {
						return // tested below
					}
				}
				if got, ok := l.compareSingle(single[0], single[1]); !ok || got != want {
					rt.Fatalf("%x and %x compare %d, want %d", single[0], single[1], got, want)
				}
				if got, ok := l.comparePlain(a, b); !ok || got != want {
					rt.Fatalf("PLAIN %x and %x compare %d, want %d", a, b, got, want)
				}
			})
		})
	}
}

func TestNoBounds(t *testing.T) {
	nan, zero := math.Float64bits(math.NaN()), math.Float64bits(0)
	minus := math.Float64bits(math.Copysign(0, -1))
	double, _ := newLeafType(record.Type{Kind: record.KindDouble})
	long, _ := newLeafType(record.Type{Kind: record.KindLong})
	decimal, _ := newLeafType(record.Type{Kind: record.KindDecimal, Precision: 30})
	boolean, _ := newLeafType(record.Type{Kind: record.KindBoolean})
	uuid, _ := newLeafType(record.Type{Kind: record.KindUUID})
	bits := func(v uint64) []byte { return longBytes(int64(v)) }
	for _, c := range []struct {
		leaf  leafType
		a, b  []byte
		want  int
		valid bool
	}{
		{double, bits(nan), bits(zero), 0, false},
		{double, bits(zero), bits(nan), 0, false},
		{double, bits(minus), bits(zero), -1, true},
		{double, bits(zero), bits(minus), 1, true},
		{double, bits(zero), bits(zero), 0, true},
		{double, []byte{1, 2, 3, 4}, bits(zero), 0, false},
		{long, []byte{1, 0, 0, 0}, bits(1), 0, false}, // of an int that became a long
		{decimal, nil, []byte{1}, 0, false},
		{decimal, make([]byte, 17), []byte{1}, 0, false},
		{decimal, []byte{0xFF}, []byte{0x01, 0x00}, -1, true},
		{boolean, []byte{2}, []byte{1}, 0, false},
		{uuid, []byte("short"), []byte("0123456789abcdef"), 0, false},
	} {
		got, valid := c.leaf.compareSingle(c.a, c.b)
		if valid != c.valid || valid && got != c.want {
			t.Errorf("%x and %x of %s compare %d, %v; want %d, %v", c.a, c.b, c.leaf.kind, got, valid, c.want, c.valid)
		}
	}
}

// TestJoinKnowsWhatItKnows keeps bounds and counts of a column only where every part has them.
func TestJoinKnowsWhatItKnows(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "f", Type: record.Type{Kind: record.KindDouble}},
		{ID: 2, Name: "d", Type: record.Type{Kind: record.KindDecimal, Precision: 20}},
		{ID: 3, Name: "t", Type: record.Type{Kind: record.KindString}},
	}}
	rows := func(f float64, d int64, t string) [][]any {
		return [][]any{{f, decimal16(d), []byte(t)}, {nil, nil, nil}}
	}
	a := partOf(t, s, rows(math.NaN(), -1, "b"), Options{}) // no bounds of f, and none needed
	b := partOf(t, s, rows(-2.5, 300, "a"), Options{})
	c := partOf(t, s, [][]any{{nil, nil, nil}}, Options{}) // no bounds at all, and none needed
	_, joined := joinParts(t, s, []Part{a, b, c}, Options{})
	d := joined.File
	if d.NaNValueCounts[1] != 1 || d.NullValueCounts[1] != 3 || d.ValueCounts[1] != 5 || d.Rows != 5 {
		t.Errorf("counts %+v", d)
	}
	for id, want := range map[int][2][]byte{
		1: {longBytes(int64(math.Float64bits(-2.5))), longBytes(int64(math.Float64bits(-2.5)))},
		2: {{0xFF}, {1, 44}}, 3: {[]byte("a"), []byte("b")},
	} {
		if !bytes.Equal(d.LowerBounds[id], want[0]) || !bytes.Equal(d.UpperBounds[id], want[1]) {
			t.Errorf("field %d from %x to %x, want %x", id, d.LowerBounds[id], d.UpperBounds[id], want)
		}
	}
	b.File.LowerBounds, b.File.NaNValueCounts = nil, nil
	_, joined = joinParts(t, s, []Part{a, b, c}, Options{})
	if d = joined.File; len(d.LowerBounds) != 0 || len(d.UpperBounds) != 3 || len(d.NaNValueCounts) != 0 {
		t.Errorf("bounds from %x to %x and NaNs %v of a part without lower bounds", d.LowerBounds, d.UpperBounds,
			d.NaNValueCounts)
	}
	_, joined = joinParts(t, s, []Part{a}, Options{Metrics: Metrics{Mode: MetricsCounts}})
	if d = joined.File; d.LowerBounds[3] != nil || d.ValueCounts[3] != 2 {
		t.Errorf("metrics %+v in mode counts", d)
	}
	out, err := joinedWithout(t, s, a)
	if err != nil || out.ValueCounts[3] != 0 || len(out.LowerBounds) != 0 {
		t.Errorf("metrics %+v in mode none, error %v", out, err)
	}
}

func joinedWithout(t *testing.T, s *record.Schema, p Part) (record.DataFile, error) {
	t.Helper()
	var out bytes.Buffer
	joined, err := Join(t.Context(), &out, []Part{p}, JoinOptions{Schema: s,
		Options: Options{Metrics: Metrics{Mode: MetricsNone}}})
	return joined.File, err
}

// TestJoinStatistics merges those of the footer, of every type.
func TestJoinStatistics(t *testing.T) {
	for _, c := range matrix() {
		rows := repeat(c.rows, 20)
		half := len(rows) / 2
		a, b := partOf(t, c.schema, rows[:half], Options{}), partOf(t, c.schema, rows[half:], Options{})
		data, _ := joinParts(t, c.schema, []Part{a, b}, Options{})
		whole, _ := writeFile(t, c.schema, rows, Options{}, 100)
		got, want := openFile(t, data).Metadata().RowGroups[0], openFile(t, whole).Metadata().RowGroups[0]
		for i := range want.Columns {
			g, w := got.Columns[i].MetaData, want.Columns[i].MetaData
			if g.Statistics.NullCount != w.Statistics.NullCount || g.NumValues != w.NumValues ||
				!bytes.Equal(g.Statistics.MinValue, w.Statistics.MinValue) ||
				!bytes.Equal(g.Statistics.MaxValue, w.Statistics.MaxValue) ||
				!slices.Equal(g.PathInSchema, w.PathInSchema) || g.Type != w.Type {
				t.Errorf("%s: column %v is %+v, want %+v", c.name, w.PathInSchema, g, w)
			}
		}
	}
}
