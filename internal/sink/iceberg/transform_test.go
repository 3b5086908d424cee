package iceberg

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	library "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"firn/internal/record"
	"firn/internal/table"
)

// column of random values, with the library's literal of each: the library is the witness here.
type sample struct {
	kind    record.Type
	literal func(*record.Column, int) library.Literal
	set     func(*record.Column, int, *rand.Rand)
	names   []string // of transforms that fit
}

func set64(c *record.Column, i int, r *rand.Rand) { c.Ints64[i] = r.Int64N(4e18) - 2e18 }
func setMicros(c *record.Column, i int, r *rand.Rand) {
	c.Ints64[i] = r.Int64N(4e15) - 2e15 // 1906 to 2033
}
func setText(c *record.Column, i int, r *rand.Rand) {
	c.Bytes[i] = []byte("aé日😀zyxwvut"[:[]int{0, 1, 3, 6, 10, 13, 17}[r.IntN(7)]])
}
func setFixed(c *record.Column, i int, r *rand.Rand) {
	for k := range c.FixedAt(i) {
		c.FixedAt(i)[k] = byte(r.UintN(256))
	}
}

func decimalOf(v *big.Int, scale int) library.Literal {
	return library.DecimalLiteral{Val: decimal128.FromBigInt(v), Scale: scale}
}

func samples() []sample {
	type c = record.Column
	typ := func(k record.Kind) record.Type { return record.Type{Kind: k} }
	every := []string{"identity", "bucket", "void"}
	numeric := append([]string{"truncate"}, every...)
	timed := append([]string{"year", "month", "day", "hour"}, every...)
	return []sample{
		{typ(record.KindBoolean), func(x *c, i int) library.Literal { return library.BoolLiteral(x.Bools[i]) },
			func(x *c, i int, r *rand.Rand) { x.Bools[i] = r.IntN(2) == 0 }, []string{"identity", "void"}},
		{typ(record.KindInt), func(x *c, i int) library.Literal { return library.Int32Literal(x.Ints32[i]) },
			func(x *c, i int, r *rand.Rand) { x.Ints32[i] = r.Int32() - 1<<30 }, numeric},
		{typ(record.KindLong), func(x *c, i int) library.Literal { return library.Int64Literal(x.Ints64[i]) },
			set64, numeric},
		{typ(record.KindDate), func(x *c, i int) library.Literal { return library.DateLiteral(x.Ints32[i]) },
			func(x *c, i int, r *rand.Rand) { x.Ints32[i] = r.Int32N(60000) - 30000 },
			append([]string{"year", "month", "day"}, every...)},
		{typ(record.KindTime), func(x *c, i int) library.Literal { return library.TimeLiteral(x.Ints64[i]) },
			func(x *c, i int, r *rand.Rand) { x.Ints64[i] = r.Int64N(86_400_000_000) }, every},
		{typ(record.KindTimestamp), func(x *c, i int) library.Literal { return library.TimestampLiteral(x.Ints64[i]) },
			setMicros, timed},
		{typ(record.KindTimestampTZNs), func(x *c, i int) library.Literal { return library.TimestampNsLiteral(x.Ints64[i]) },
			func(x *c, i int, r *rand.Rand) { x.Ints64[i] = r.Int64N(4e18) - 2e18 }, timed},
		{typ(record.KindString), func(x *c, i int) library.Literal { return library.StringLiteral(x.Bytes[i]) },
			setText, numeric},
		{typ(record.KindBinary), func(x *c, i int) library.Literal { return library.BinaryLiteral(x.Bytes[i]) },
			setText, numeric},
		{record.Type{Kind: record.KindFixed, Length: 5},
			func(x *c, i int) library.Literal { return library.FixedLiteral(x.FixedAt(i)) }, setFixed, every},
		{typ(record.KindUUID), func(x *c, i int) library.Literal { return library.UUIDLiteral(uuid.UUID(x.FixedAt(i))) },
			setFixed, every},
		{record.Type{Kind: record.KindDecimal, Precision: 18, Scale: 2},
			func(x *c, i int) library.Literal { return decimalOf(big.NewInt(x.Ints64[i]), 2) }, setMicros, numeric},
		{record.Type{Kind: record.KindDecimal, Precision: 38, Scale: 4},
			func(x *c, i int) library.Literal { return decimalOf(bigFromBytes(x.FixedAt(i)), 4) },
			func(x *c, i int, r *rand.Rand) { copy(x.FixedAt(i), bigToBytes(big.NewInt(r.Int64N(4e18)-2e18), 16)) }, numeric},
	}
}

func libraryTransform(t *testing.T, name string, param int) library.Transform {
	text := name
	if name == "bucket" || name == "truncate" {
		text = fmt.Sprintf("%s[%d]", name, param)
	}
	out, err := library.ParseTransform(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// resultType is the type that a transform gives, as the table layer says it.
func resultType(name string, source record.Type) record.Type {
	switch name {
	case "bucket", "year", "month", "hour":
		return record.Type{Kind: record.KindInt}
	case "day":
		return record.Type{Kind: record.KindDate}
	default:
		return source
	}
}

func TestPartitionValuesAgreeWithTheLibrary(t *testing.T) {
	const rows = 300
	for _, s := range samples() {
		for _, name := range s.names {
			t.Run(s.kind.String()+"/"+name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				schema := &record.Schema{Fields: []record.Field{{ID: 7, Name: "v", Type: s.kind}}}
				columns := record.NewColumns(schema.Fields)
				for i := range rows {
					columns[0].Grow()
					if columns[0].Valid[i] = i%10 != 3; columns[0].Valid[i] {
						s.set(&columns[0], i, r)
					}
				}
				terms, err := newTerms(schema, []table.PartitionField{{
					SourceID: 7, FieldID: 1000, Name: "p", Transform: name, Param: 3, Result: resultType(name, s.kind),
				}})
				if err != nil {
					t.Fatal(err)
				}
				checkAgainstLibrary(t, newSplitter(terms), columns, rows, s, libraryTransform(t, name, 3))
			})
		}
	}
}

func checkAgainstLibrary(
	t *testing.T, split *splitter, columns []record.Column, rows int, s sample, tr library.Transform,
) {
	seen := 0
	for _, g := range split.split(columns, rows) {
		got := split.partition(g.first)[0]
		for _, i := range g.rows {
			seen++
			var value library.Optional[library.Literal]
			if columns[0].Valid[i] {
				value = library.Optional[library.Literal]{Valid: true, Val: s.literal(&columns[0], int(i))}
			}
			want := tr.Apply(value)
			if want.Valid == got.Null {
				t.Fatalf("row %d: null %t, the library says %t", i, got.Null, !want.Valid)
			}
			if !want.Valid {
				continue
			}
			b, err := want.Val.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b, got.Value) {
				t.Fatalf("row %d (%v): % x, the library says %v, % x", i, value.Val, got.Value, want.Val, b)
			}
		}
	}
	if seen != rows {
		t.Errorf("%d rows in groups, want %d", seen, rows)
	}
}

func TestSplitOfSeveralFields(t *testing.T) {
	schema := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "n", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "s", Type: record.Type{Kind: record.KindStruct, Fields: []record.Field{
			{ID: 3, Name: "t", Type: record.Type{Kind: record.KindString}},
		}}},
	}}
	terms, err := newTerms(schema, []table.PartitionField{
		{Name: "n", SourceID: 1, FieldID: 1000, Transform: "identity", Result: record.Type{Kind: record.KindLong}},
		{Name: "t", SourceID: 3, FieldID: 1001, Transform: "identity", Result: record.Type{Kind: record.KindString}},
	})
	if err != nil {
		t.Fatal(err)
	}
	columns := record.NewColumns(schema.Fields)
	for i := range 60 {
		for c := range columns {
			columns[c].Grow()
			columns[c].Valid[i] = true
		}
		columns[0].Ints64[i] = int64(i % 3)
		text := &columns[1].Children[0]
		text.Valid[i], text.Bytes[i] = i%4 != 0, []byte{byte('a' + i%4)}
	}
	s := newSplitter(terms)
	for range 2 { // its buffers are reused
		groups := s.split(columns, 60)
		if len(groups) != 12 {
			t.Fatalf("%d groups, want 12", len(groups))
		}
		for _, g := range groups {
			for _, i := range g.rows {
				if int(i)%12 != g.first%12 {
					t.Errorf("row %d is with row %d", i, g.first)
				}
			}
		}
	}
}

func TestTransformThatDoesNotFitIsAnError(t *testing.T) {
	schema := &record.Schema{Fields: []record.Field{{ID: 1, Name: "n", Type: record.Type{Kind: record.KindLong}}}}
	f := func(field table.PartitionField, want string) {
		t.Helper()
		if _, err := newTerms(schema, []table.PartitionField{field}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	f(table.PartitionField{SourceID: 1, Name: "n_day", Transform: "day"},
		"partition field n_day: firn cannot write day of a long column")
	f(table.PartitionField{SourceID: 1, Name: "a.n", Transform: "identity"},
		`partition field "a.n": firn cannot write to a table with a partition field of this name; rename it to one of `+
			"letters, digits and _ (ALTER TABLE ... REPLACE PARTITION FIELD)")
	f(table.PartitionField{SourceID: 1, Name: "z", Transform: "zorder"},
		"partition field z: firn cannot write zorder of a long column")
	f(table.PartitionField{SourceID: 1, Name: "b", Transform: "bucket"},
		"partition field b: bucket needs a number above 0")
	f(table.PartitionField{SourceID: 1, Name: "t", Transform: "truncate", Param: -1},
		"partition field t: truncate needs a number above 0")
	f(table.PartitionField{SourceID: 9, Name: "x", Transform: "identity"},
		"partition field x: its source column (field id 9) is not among the columns that the job writes")
}
