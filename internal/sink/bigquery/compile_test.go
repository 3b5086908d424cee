package bigquery

import (
	"strings"
	"testing"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// Every fault of a pair of schemas is told at once, by the field's path.
func TestRowsThatDoNotFitATable(t *testing.T) {
	text, number := record.Type{Kind: record.KindString}, record.Type{Kind: record.KindLong}
	sql := func(t storagepb.TableFieldSchema_Type) *storagepb.TableFieldSchema { return columnOf("f", t) }
	stringColumn := storagepb.TableFieldSchema_STRING
	decimal := func(p, s int) record.Type { return record.Type{Kind: record.KindDecimal, Precision: p, Scale: s} }
	for _, c := range []struct {
		name  string
		field record.Type
		table *storagepb.TableFieldSchema
		want  string
	}{
		{"another type", number, sql(stringColumn), "field f: long cannot fill STRING"},
		{"int for a float", number, sql(storagepb.TableFieldSchema_DOUBLE), "long cannot fill FLOAT64"},
		{"one for many", number, repeated(sql(storagepb.TableFieldSchema_INT64)), "long cannot fill a REPEATED column"},
		{"many for one", listType(number), sql(storagepb.TableFieldSchema_INT64), "this one is not"},
		{"a map for numbers", mapType(text, number), repeated(sql(storagepb.TableFieldSchema_INT64)), "STRUCT<key, value>"},
		{"a map of other values", mapType(text, number), repeated(structColumn("f", columnOf("key", stringColumn),
			columnOf("value", stringColumn))), "field f.value: long cannot fill STRING"},
		{"text for JSON", text, sql(storagepb.TableFieldSchema_JSON), "a string is the text of no JSON value"},
		{"text for bytes", text, sql(storagepb.TableFieldSchema_BYTES), "string cannot fill BYTES"},
		{"JSON for a place", record.Type{Kind: record.KindString, JSON: true}, sql(storagepb.TableFieldSchema_GEOGRAPHY),
			"cannot fill GEOGRAPHY"},
		{"text for a number", text, sql(storagepb.TableFieldSchema_BIGNUMERIC), "string cannot fill BIGNUMERIC"},
		{"too many digits", decimal(38, 8), sql(storagepb.TableFieldSchema_NUMERIC), "decimal(38, 8) does not fit NUMERIC"},
		{"too fine", decimal(9, 3), sized(sql(storagepb.TableFieldSchema_NUMERIC), 9, 2, 0), "does not fit NUMERIC(9, 2)"},
		{"a decimal for an integer", decimal(9, 0), sql(storagepb.TableFieldSchema_INT64), "decimal(9, 0) cannot fill INT64"},
		{"a long uuid", record.Type{Kind: record.KindUUID}, sized(sql(stringColumn), 0, 0, 35), "does not fit STRING(35)"},
		{"a long fixed", record.Type{Kind: record.KindFixed, Length: 4},
			sized(sql(storagepb.TableFieldSchema_BYTES), 0, 0, 3), "fixed[4] does not fit BYTES(3)"},
		{"no column", number, columnOf("g", storagepb.TableFieldSchema_INT64), "field f: the table has no such column"},
		{"a column that must be", number, must(columnOf("g", storagepb.TableFieldSchema_INT64)),
			"field g: the column is REQUIRED, and rows do not have it"},
		{"inside", record.Type{Kind: record.KindStruct, Fields: []record.Field{fieldOf("a", number)}},
			structColumn("f", columnOf("b", storagepb.TableFieldSchema_INT64)), "field f.a: the table has no such column"},
	} {
		rows := &record.Schema{Fields: []record.Field{fieldOf("f", c.field)}}
		_, err := NewEncoder(rows, tableWith(c.table), DefaultLimits())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
	schema := &record.Schema{Fields: []record.Field{
		fieldOf("A", number), fieldOf("a", number), fieldOf(ChangeType, number)}}
	_, err := NewEncoder(schema, tableWith(columnOf("a", storagepb.TableFieldSchema_INT64)), DefaultLimits())
	for _, want := range []string{"field a: another field fills column a", "_CHANGE_TYPE: it must be a string"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

func TestLimitsThatAreNone(t *testing.T) {
	table := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	for _, l := range []Limits{{}, {Bytes: 5, BytesMax: 4}} {
		if _, err := NewEncoder(recordSchemaOf(t, table), table, l); err == nil {
			t.Errorf("%+v is taken", l)
		}
	}
}

// A column of a default value may be left out, as may one that can be null; a name may differ in case.
func TestRowsOfSomeColumns(t *testing.T) {
	counted := must(columnOf("n", storagepb.TableFieldSchema_INT64))
	counted.DefaultValueExpression = "0"
	table := tableWith(counted, columnOf("Text", storagepb.TableFieldSchema_STRING),
		columnOf("text2", storagepb.TableFieldSchema_STRING))
	rows := &record.Schema{Fields: []record.Field{fieldOf("text", record.Type{Kind: record.KindString})}}
	e := encoderOf(t, rows, table)
	fields := e.Descriptor().GetField()
	if len(fields) != 1 || fields[0].GetName() != "Text" {
		t.Errorf("fields %v", fields)
	}
}

// The kinds that no schema of a table asks for fill columns as well.
func TestKindsThatTablesDoNotAskFor(t *testing.T) {
	text := record.Type{Kind: record.KindString}
	rows := &record.Schema{Fields: []record.Field{
		fieldOf("i", record.Type{Kind: record.KindInt}), fieldOf("f", record.Type{Kind: record.KindFloat}),
		fieldOf("u", record.Type{Kind: record.KindUUID}), fieldOf("x", record.Type{Kind: record.KindFixed, Length: 2}),
		fieldOf("m", mapType(text, record.Type{Kind: record.KindInt})),
		fieldOf("l", listType(record.Type{Kind: record.KindFloat})),
	}}
	table, err := TableSchema(rows)
	if err != nil {
		t.Fatal(err)
	}
	b := record.NewBatch(rows)
	for i := range b.Columns {
		b.Columns[i].Grow()
		b.Columns[i].Valid[0] = true
	}
	b.Rows = 1
	b.Columns[0].Ints32[0], b.Columns[1].Floats32[0] = -5, 1.5
	copy(b.Columns[2].FixedAt(0), "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef")
	copy(b.Columns[3].FixedAt(0), "\x00\xff")
	for i, key := range []string{"a", "b"} {
		k, v, l := &b.Columns[4].Children[0], &b.Columns[4].Children[1], &b.Columns[5].Children[0]
		k.Grow()
		v.Grow()
		l.Grow()
		k.Valid[i], v.Valid[i], l.Valid[i] = true, i == 1, true
		k.Bytes[i], l.Floats32[i] = []byte(key), float32(i)
	}
	b.Columns[4].Children[1].Ints32[1] = 7
	b.Columns[4].Offsets[1], b.Columns[5].Offsets[1] = 2, 2
	e := encoderOf(t, rows, table)
	buf, cut := e.Append(nil, b, 0, 1)
	if cut.Rows != 1 {
		t.Fatalf("%+v", cut)
	}
	got := showMessage(messagesOf(t, buf, messageOf(t, e.Descriptor()))[0], table.GetFields())
	want := `{i=-5 f=1.5 u="01234567-89ab-cdef-0123-456789abcdef" x="\x00\xff" m=[{key="a"} {key="b" value=7}] l=[0 1]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
