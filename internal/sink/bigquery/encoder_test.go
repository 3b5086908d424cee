package bigquery

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"pgregory.net/rapid"
)

// drawTable draws a table of up to six columns, nested up to that depth.
func drawTable(t *rapid.T, depth int) []*storagepb.TableFieldSchema {
	all := everyType()
	n := rapid.IntRange(1, 6).Draw(t, "columns")
	columns := make([]*storagepb.TableFieldSchema, n)
	for i := range columns {
		at := rapid.IntRange(0, len(all)).Draw(t, "type")
		if at == len(all) && depth > 0 {
			columns[i] = structColumn("", drawTable(t, depth-1)...)
		} else {
			columns[i] = everyType()[at%len(all)]
		}
		columns[i].Name = "c" + string(rune('a'+i))
		columns[i].Mode = rapid.SampledFrom([]storagepb.TableFieldSchema_Mode{
			storagepb.TableFieldSchema_NULLABLE, storagepb.TableFieldSchema_NULLABLE,
			storagepb.TableFieldSchema_REQUIRED, storagepb.TableFieldSchema_REPEATED,
		}).Draw(t, "mode")
	}
	return columns
}

// drawNext appends a value, or rarely a null.
func drawNext(t *rapid.T, c *record.Column) {
	c.Grow()
	drawAt(t, c, c.Len-1)
}

func drawAt(t *rapid.T, c *record.Column, i int) {
	if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
		return
	}
	c.Valid[i] = true
	switch k := c.Field.Type.Kind; {
	case k == record.KindStruct:
		for j := range c.Children {
			drawAt(t, &c.Children[j], i)
		}
	case k == record.KindList:
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			drawNext(t, &c.Children[0])
		}
		c.Offsets[i+1] = int32(c.Children[0].Len)
	case k == record.KindBoolean:
		c.Bools[i] = rapid.Bool().Draw(t, "bool")
	case k == record.KindDate:
		c.Ints32[i] = rapid.OneOf(rapid.Int32Range(-720000, 2933000),
			rapid.SampledFrom([]int32{-719163, -719162, 0, 2932896, 2932897})).Draw(t, "date")
	case k == record.KindDouble:
		c.Floats64[i] = rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(math.Inf(-1))).Draw(t, "double")
	case k == record.KindDecimal && c.Ints64 != nil:
		c.Ints64[i] = rapid.Int64Range(-999_999_999, 999_999_999).Draw(t, "decimal")
	case k == record.KindDecimal:
		hi := rapid.Int64Range(-5e18, 5e18).Draw(t, "high") // 5e18 * 2^64 is less than 10^38
		binary.BigEndian.PutUint64(c.FixedAt(i), uint64(hi>>rapid.IntRange(0, 63).Draw(t, "shift")))
		binary.BigEndian.PutUint64(c.FixedAt(i)[8:], rapid.Uint64().Draw(t, "low"))
	case k == record.KindTime:
		c.Ints64[i] = rapid.OneOf(rapid.Int64Range(0, 86400e6-1), rapid.SampledFrom([]int64{-1, 86400e6})).Draw(t, "time")
	case k == record.KindTimestamp || k == record.KindTimestampTZ:
		c.Ints64[i] = rapid.OneOf(rapid.Int64Range(firstMicro, lastMicro), rapid.SampledFrom([]int64{
			firstMicro, firstMicro - 1, lastMicro, lastMicro + 1, -1, 0, math.MinInt64, math.MaxInt64,
		})).Draw(t, "timestamp")
	case c.Ints64 != nil:
		c.Ints64[i] = rapid.Int64().Draw(t, "long")
	case c.Field.Type.JSON:
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?`)
		c.Bytes[i] = []byte(number.Draw(t, "number"))
	default:
		c.Bytes[i] = []byte(rapid.String().Draw(t, "text"))
	}
}

// Whatever the table and the rows, a server that knows only the descriptor reads what the columns hold, and the rows
// that it would refuse are set aside.
func TestRowsAreReadAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := tableWith(drawTable(t, 2)...)
		rows, err := RecordSchema(table)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEncoder(rows, table, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		batch := record.NewBatch(rows)
		for batch.Rows = range rapid.IntRange(1, 5).Draw(t, "rows") {
			for i := range batch.Columns {
				drawNext(t, &batch.Columns[i])
			}
		}
		batch.Rows++
		checkAgainstModel(t, e, batch, table)
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func checkAgainstModel(t fataler, e *Encoder, batch *record.Batch, table *storagepb.TableSchema) {
	t.Helper()
	var want []string
	var refused []int
	for row := range batch.Rows {
		if text, why := modelRow(batch.Columns, row, table.GetFields()); why != "" {
			refused = append(refused, row)
		} else {
			want = append(want, text)
		}
	}
	buf, cut := e.Append(nil, batch, 0, batch.Rows)
	var got []int
	for _, r := range cut.Refused {
		got = append(got, r.Row)
	}
	if !slices.Equal(got, refused) || cut.Next != batch.Rows || cut.Rows != len(want) {
		t.Fatalf("rows %v are refused, want %v: %+v", got, refused, cut)
	}
	tb := &quiet{fataler: t}
	for i, m := range messagesOf(tb, buf, messageOf(tb, e.Descriptor())) {
		if text := showMessage(m, table.GetFields()); text != want[i] {
			t.Errorf("row %d\ngot  %s\nwant %s", i, text, want[i])
		}
	}
}

// quiet lets rapid's T stand for a testing.TB.
type quiet struct {
	testing.TB
	fataler
}

func (q *quiet) Helper()                           { q.fataler.Helper() }
func (q *quiet) Fatalf(format string, args ...any) { q.fataler.Fatalf(format, args...) }
func (q *quiet) Errorf(format string, args ...any) { q.fataler.Errorf(format, args...) }
func (q *quiet) Fatal(args ...any)                 { q.Fatalf("%v", args) }

func TestRequestsAreCutAtTheirLimits(t *testing.T) {
	table := tableWith(columnOf("s", storagepb.TableFieldSchema_STRING))
	rows := recordSchemaOf(t, table)
	e, err := NewEncoder(rows, table, Limits{Bytes: 30, BytesMax: 50})
	if err != nil {
		t.Fatal(err)
	}
	batch := batchOf(rows, 10, 10, 10, 45, 60, 10, 20, 46)
	// A row takes four bytes beside its text.
	for _, want := range []struct {
		next, rows, bytes int
		full              bool
		refused           []int
	}{
		{next: 3, rows: 3, bytes: 42, full: true},
		{next: 4, rows: 1, bytes: 49, full: true},
		{next: 7, rows: 2, bytes: 38, full: true, refused: []int{4}},
		{next: 8, rows: 1, bytes: 50, full: true},
	} {
		from := 0
		if want.next > 3 {
			from = map[int]int{4: 3, 7: 4, 8: 7}[want.next]
		}
		buf, cut := e.Append(nil, batch, from, batch.Rows)
		if cut.Next != want.next || cut.Rows != want.rows || len(buf) != want.bytes || cut.Full != want.full ||
			len(cut.Refused) != len(want.refused) {
			t.Errorf("from row %d: %+v, %d bytes; want %+v", from, cut, len(buf), want)
		}
		if len(cut.Refused) > 0 && (cut.Refused[0].Row != 4 || !strings.Contains(cut.Refused[0].Reason, "takes 64 bytes")) {
			t.Errorf("refused %+v", cut.Refused)
		}
	}
	buf, cut := e.Append(make([]byte, 20), batch, 3, 4)
	if len(buf) != 20 || !cut.Full || cut.Next != 3 || len(cut.Refused) > 0 {
		t.Errorf("a row that does not fit behind others: %d bytes, %+v", len(buf), cut)
	}
}

// batchOf has a string of each length.
func batchOf(rows *record.Schema, lengths ...int) *record.Batch {
	batch := record.NewBatch(rows)
	for i, n := range lengths {
		batch.Columns[0].Grow()
		batch.Columns[0].Valid[i], batch.Columns[0].Bytes[i] = true, []byte(strings.Repeat("x", n))
		batch.Rows++
	}
	return batch
}

func TestWideNumbersByTheirText(t *testing.T) {
	for in, want := range map[string]string{
		"0": "", "-0.000e9": "", `"12.50"`: "", "1e38": "",
		"5.7896044618658097711785492504343953926634992332820282019728792003956564819967e38":  "",
		"-5.7896044618658097711785492504343953926634992332820282019728792003956564819968e38": "",
		"5.7896044618658097711785492504343953926634992332820282019728792003956564819968e38":  "out of range",
		"1e-38": "", "1e-39": "after the point", "1e39": "before the point", "1e9999999999999999999999": "before the point",
		"0e9999999999999999999999": "", "1e-9999999999999999999999": "after the point", `""`: "no number", `"x"`: "no number",
		"true": "no number", "{}": "no number", `"1.5 "`: "no number", `"-"`: "no number", "1e": "no number",
		`"1."`: "no number",
	} {
		var w wide
		reason := w.parse([]byte(in), bignumericWholeMax, bignumericScale)
		if (want == "") != (reason == "") || !strings.Contains(reason, want) {
			t.Errorf("%s: %q, want %q", in, reason, want)
		}
		if want == "" {
			got := showTwos(w.append(nil), 38)
			if model, _ := modelNumber(strings.Trim(in, `"`)); !strings.Contains(in, "99999") && got != model {
				t.Errorf("%s: %s, want %s", in, got, model)
			}
		}
	}
}

func TestDecimalsTakeAsFewBytesAsTheirSignNeeds(t *testing.T) {
	for v, want := range map[int64]int{0: 1, 1: 1, 127: 1, 128: 2, -128: 1, -129: 2, 1 << 40: 6} {
		w := wide{uint64(v)}
		if v < 0 {
			w[1], w[2], w[3] = math.MaxUint64, math.MaxUint64, math.MaxUint64
		}
		b := w.append([]byte("before"))[6:]
		if got := showTwos(b, 0); len(b) != want || got != new(big.Rat).SetInt64(v).RatString() {
			t.Errorf("%d: %x is %s", v, b, got)
		}
	}
}
