package table

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/google/go-cmp/cmp"
)

// everyType has a column of every type a condition can name, with the type's name.
func everyType() *iceberg.Schema {
	types := []iceberg.Type{
		iceberg.PrimitiveTypes.Bool, iceberg.PrimitiveTypes.Int32, iceberg.PrimitiveTypes.Int64,
		iceberg.PrimitiveTypes.Float32, iceberg.PrimitiveTypes.Float64, iceberg.PrimitiveTypes.Date,
		iceberg.PrimitiveTypes.Time, iceberg.PrimitiveTypes.Timestamp, iceberg.PrimitiveTypes.TimestampTz,
		iceberg.PrimitiveTypes.TimestampNs, iceberg.PrimitiveTypes.TimestampTzNs, iceberg.PrimitiveTypes.String,
		iceberg.PrimitiveTypes.UUID, iceberg.PrimitiveTypes.Binary,
	}
	fields := []iceberg.NestedField{
		{ID: 1, Name: "decimal", Type: iceberg.DecimalTypeOf(9, 2)},
		{ID: 2, Name: "big", Type: iceberg.DecimalTypeOf(38, 10)},
		{ID: 3, Name: "fixed", Type: iceberg.FixedTypeOf(2)},
		{ID: 4, Name: "device", Type: &iceberg.StructType{FieldList: []iceberg.NestedField{
			{ID: 5, Name: "os", Type: iceberg.PrimitiveTypes.String},
			{ID: 6, Name: "odd name", Type: iceberg.PrimitiveTypes.Int32},
		}}},
		{ID: 7, Name: "tags", Type: &iceberg.ListType{ElementID: 8, Element: iceberg.PrimitiveTypes.String}},
		{ID: 9, Name: "a.b", Type: iceberg.PrimitiveTypes.Int32},
		{ID: 10, Name: "select \"x\"", Type: iceberg.PrimitiveTypes.Int32},
		{ID: 11, Name: "größe", Type: iceberg.PrimitiveTypes.Int32},
	}
	for i, t := range types {
		fields = append(fields, iceberg.NestedField{ID: 20 + i, Name: t.String(), Type: t})
	}
	return iceberg.NewSchema(0, fields...)
}

func TestParseWhere(t *testing.T) {
	i, l := iceberg.Reference("int"), iceberg.Reference("long")
	s, d := iceberg.Reference("string"), iceberg.Reference("double")
	and, or := iceberg.NewAnd, iceberg.NewOr
	eq := func(r iceberg.Reference, n int32) iceberg.BooleanExpression { return iceberg.EqualTo(r, n) }
	ne := func(r iceberg.Reference, n int32) iceberg.BooleanExpression {
		return and(iceberg.NotNull(r), iceberg.NotEqualTo(r, n))
	}
	tests := []struct {
		text string
		want iceberg.BooleanExpression
	}{
		{"", iceberg.AlwaysTrue{}},
		{" \n\t ", iceberg.AlwaysTrue{}},
		{"int = 1", eq(i, 1)},
		{"int==-1", eq(i, -1)},
		{"int=+1", eq(i, 1)},
		{"int != 1", ne(i, 1)},
		{"int<>1", ne(i, 1)},
		{"int < 1", iceberg.LessThan[int32](i, 1)},
		{"int <= 1", iceberg.LessThanEqual[int32](i, 1)},
		{"int > 1", iceberg.GreaterThan[int32](i, 1)},
		{"int >= 1", iceberg.GreaterThanEqual[int32](i, 1)},
		{"long = 9223372036854775807", iceberg.EqualTo[int64](l, 9223372036854775807)},
		{"string = 'it''s'", iceberg.EqualTo(s, "it's")},
		{`"int" = 1`, eq(i, 1)},
		{"`int` = 1", eq(i, 1)},
		{`"select ""x""" = 1`, eq(iceberg.Reference(`select "x"`), 1)},
		{"größe = 1", eq(iceberg.Reference("größe"), 1)},
		{"a.b = 1", eq(iceberg.Reference("a.b"), 1)},
		{"device.os = 'x'", iceberg.EqualTo(iceberg.Reference("device.os"), "x")},
		{`device."odd name" = 1`, eq(iceberg.Reference("device.odd name"), 1)},
		{"int = 1 AND int = 2 OR int = 3", or(and(eq(i, 1), eq(i, 2)), eq(i, 3))},
		{"int = 1 and (int = 2 or int = 3)", and(eq(i, 1), or(eq(i, 2), eq(i, 3)))},
		{"NOT int = 1", ne(i, 1)},
		{"NOT NOT int = 1", eq(i, 1)},
		{"NOT (int = 1 AND int = 2)", or(ne(i, 1), ne(i, 2))},
		{"NOT (int = 1 OR NOT int = 2)", and(ne(i, 1), eq(i, 2))},
		{"NOT int < 1", iceberg.GreaterThanEqual[int32](i, 1)},
		{"NOT double < 1", or(iceberg.GreaterThanEqual[float64](d, 1), iceberg.IsNaN(d))},
		{"int IN (1)", eq(i, 1)},
		{"int IN (1, 2)", or(eq(i, 1), eq(i, 2))},
		{"int NOT IN (1, 2)", and(ne(i, 1), ne(i, 2))},
		{"NOT int NOT IN (1, 2)", or(eq(i, 1), eq(i, 2))},
		{"int BETWEEN 1 AND 2 AND int = 3", and(
			and(iceberg.GreaterThanEqual[int32](i, 1), iceberg.LessThanEqual[int32](i, 2)), eq(i, 3))},
		{"int NOT BETWEEN 1 AND 2", or(iceberg.LessThan[int32](i, 1), iceberg.GreaterThan[int32](i, 2))},
		{"int IS NULL", iceberg.IsNull(i)},
		{"int is not null", iceberg.NotNull(i)},
		{"NOT int IS NOT NULL", iceberg.IsNull(i)},
		{"double IS NAN", iceberg.IsNaN(d)},
		{"double IS NOT NAN", and(iceberg.NotNull(d), iceberg.NotNaN(d))},
		{"string LIKE 'ab%'", iceberg.StartsWith(s, "ab")},
		{"string NOT LIKE 'ab%'", and(iceberg.NotNull(s), iceberg.NotStartsWith(s, "ab"))},
		{`string LIKE '10\%\_\\%'`, iceberg.StartsWith(s, `10%_\`)},
		{"string LIKE 'ab'", iceberg.EqualTo(s, "ab")},
		{"string LIKE '%'", iceberg.NotNull(s)},
		{"string NOT LIKE '%'", iceberg.AlwaysFalse{}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := parseWhere(tt.text, everyType())
			if err != nil {
				t.Fatal(err)
			}
			if !got.condition.Equals(tt.want) {
				t.Errorf("got  %s\nwant %s", got.condition, tt.want)
			}
		})
	}
}

func TestParseWhereColumns(t *testing.T) {
	w, err := parseWhere("device.os = 'x' AND (int = 1 OR NOT int = 2) AND a.b = 1", everyType())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"device", "int", "a.b"}, w.columns); d != "" {
		t.Errorf("columns (-want +got):\n%s", d)
	}
}

func TestParseWhereLiterals(t *testing.T) {
	tests := []struct{ text, want string }{
		{"boolean = TRUE", "true"},
		{"boolean = false", "false"},
		{"int = -2147483648", "-2147483648"},
		{"float = 1.5", "1.5"},
		{"float = '-inf'", "-Inf"},
		{"double = -1.5e-3", "-0.0015"},
		{"double = .5", "0.5"},
		{"decimal = 12.5", "12.50"},
		{"decimal = -0.05", "-0.05"},
		{"big = 1234567890123456789012345678.0000000001", "1234567890123456789012345678.0000000001"},
		{"date = '1969-12-31'", "1969-12-31"},
		{"time = '10:00:00.000001'", "10:00:00.000001"},
		{"timestamp = '2026-01-31T10:00:00.5'", "2026-01-31T10:00:00.5"},
		{"timestamp = '2026-01-31 10:00'", "2026-01-31T10:00:00"},
		{"timestamptz = '2026-01-31T10:00:00+02:00'", "2026-01-31T08:00:00"},
		{"timestamp_ns = '2026-01-31T10:00:00.000000001'", "2026-01-31T10:00:00.000000001"},
		{"timestamptz_ns = '2026-01-31T10:00:00Z'", "2026-01-31T10:00:00"},
		{"uuid = '6BA7B810-9DAD-11D1-80B4-00C04FD430C8'", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		{"binary = X''", ""},
		{"fixed = x'00fF'", "00ff"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			e, err := parseWhere(tt.text, everyType())
			if err != nil {
				t.Fatal(err)
			}
			column, _, _ := strings.Cut(tt.text, " ")
			field, _ := everyType().FindFieldByName(column)
			bound, err := iceberg.BindExpr(everyType(), e.condition, true)
			if err != nil {
				t.Fatalf("binding: %v", err)
			}
			literal := bound.(iceberg.BoundLiteralPredicate).Literal()
			if got := literalText(field.Type, literal); strings.TrimSuffix(got, "Z") != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseWhereErrors(t *testing.T) {
	tests := []struct {
		text     string
		position int
		want     string
	}{
		{"int", 4, "want a comparison (=, !="},
		{"int =", 6, "want a literal, got the end"},
		{"int = 1 int", 9, "want AND, OR or the end, got int"},
		{"nope = 1", 1, "no column nope; columns: decimal, big,"},
		{"INT = 1", 1, "no column INT"},
		{"tags.element = 'x'", 1, "no column tags.element"},
		{"device.nope = 1", 1, "no column device.nope"},
		{"device IS NULL", 1, "device is struct<"},
		{"tags IS NULL", 1, "tags is list<string>"},
		{"= 1", 1, "want a column, got ="},
		{"(int = 1", 9, "want ), got the end"},
		{"int = 1)", 8, "want AND, OR or the end, got )"},
		{"int NOT = 1", 9, "want IN, BETWEEN or LIKE"},
		{"int NOT IS NULL", 9, "want IN, BETWEEN or LIKE"},
		{"int IS 1", 8, "want NULL or NAN, got 1"},
		{"int IS NAN", 8, "only float and double"},
		{"int = NULL", 7, "write int IS NULL"},
		{"double = 'NaN'", 10, "write IS NAN"},
		{"int = 2147483648", 7, "int is int: 2147483648 is out of range"},
		{"int = 1.5", 7, "want a whole number, got 1.5"},
		{"int = '1'", 7, "want a whole number, got '1'"},
		{"int = 12abc", 7, "want a whole number, got 12abc"},
		{"float = 1e39", 9, "out of range"},
		{"double = 0x1p4", 10, "want a number"},
		{"double = 1_0", 10, "want a number"},
		{"decimal = 1.234", 11, "more digits after the point"},
		{"decimal = 12345678.9", 11, "too many digits"},
		{"decimal = 1e3", 11, "want a number such as 12.50"},
		{"decimal = 1.2.3", 11, "digits after the point"},
		{"boolean = 1", 11, "want true or false"},
		{"string = 1", 10, "want text in 'single quotes', got 1"},
		{"string = other", 10, "want text in 'single quotes', got other"},
		{`string = "other"`, 10, "text stands in 'single quotes'"},
		{"string = 'open", 10, "the quote ' is not closed"},
		{"date = '2026-02-30'", 8, "want a date such as"},
		{"time = '25:00'", 8, "want a time such as"},
		{"time = '10:00:00.0000001'", 8, "finer than microseconds"},
		{"timestamp = '2026-01-31T10:00:00Z'", 13, "want a timestamp such as '2026-01-31T10:00:00'"},
		{"timestamptz = '2026-01-31T10:00:00'", 15, "want a timestamp such as '2026-01-31T10:00:00Z'"},
		{"timestamp = '2026-01-31T10:00:00.0000001'", 13, "finer than microseconds"},
		{"timestamp_ns = '1600-01-31T10:00:00'", 16, "out of range of nanoseconds"},
		{"uuid = 'x'", 8, "want a UUID such as"},
		{"binary = 'x'", 10, "want bytes as X'00ff'"},
		{"binary = X'0'", 10, "hexadecimal digits in pairs"},
		{"fixed = X'00'", 9, "want 2 bytes, got 1"},
		{"string LIKE '%ab'", 13, "only 'prefix%' is supported"},
		{"string LIKE 'a_b%'", 13, "only 'prefix%' is supported"},
		{`string LIKE 'a\'`, 13, "only 'prefix%' is supported"},
		{"string LIKE 5", 13, "want quoted text"},
		{"int LIKE 'a%'", 10, "LIKE wants a string column; int is int"},
		{"int IN ()", 9, "want a literal, got )"},
		{"int IN (1 2)", 11, "want , or ), got 2"},
		{"int IN 1", 8, "want (, got 1"},
		{"int BETWEEN 1 OR 2", 15, "want AND, got OR"},
		{"größe = 1 ; x", 11, "unexpected ';'"},
		{"int = 1 -- x", 9, "unexpected '-'"},
		{"\xff = 1", 1, "not valid UTF-8"},
		{strings.Repeat("(", 1000) + "int = 1", 201, "more than 200 parentheses"},
		{strings.Repeat(" ", whereBytesMax) + "int = 1", 1, "longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.text[:min(len(tt.text), 40)], func(t *testing.T) {
			_, err := parseWhere(tt.text, everyType())
			var fault *WhereError
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want a WhereError", err)
			}
			if fault.Position != tt.position || !strings.Contains(fault.Text, tt.want) {
				t.Errorf("got %v, want character %d: %s", fault, tt.position, tt.want)
			}
		})
	}
}

// A long chain is joined as a balanced tree, and a long run of NOT needs no stack.
func TestParseWhereLong(t *testing.T) {
	text := strings.TrimSuffix(strings.Repeat("int = 1 OR ", 5000), " OR ")
	e, err := parseWhere(text, everyType())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := iceberg.BindExpr(everyType(), e.condition, true); err != nil {
		t.Error(err)
	}
	if _, err := parseWhere(strings.Repeat("NOT ", 10_000)+"int = 1", everyType()); err != nil {
		t.Error(err)
	}
}

// FuzzParseWhere: no input panics, a fault is a WhereError within the text, and what is accepted binds.
func FuzzParseWhere(f *testing.F) {
	for _, seed := range []string{
		"int = 1 AND NOT (string LIKE 'a%' OR double IS NAN)", `device."odd name" IN (1, -2)`, "fixed = X'00ff'",
		"decimal NOT BETWEEN -1.5 AND +99", "timestamptz >= '2026-01-31T10:00:00.5+01:00'", "a.b<>'", "((",
		"größe is not null",
	} {
		f.Add(seed)
	}
	schema := everyType()
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseWhere(text, schema)
		if err != nil {
			var fault *WhereError
			if !errors.As(err, &fault) || fault.Position < 1 || fault.Position > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := iceberg.BindExpr(schema, e.condition, true); err != nil {
			t.Fatalf("%q: %s: binding: %v", text, e.condition, err)
		}
	})
}
