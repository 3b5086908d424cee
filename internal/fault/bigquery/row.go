package bigquery

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
)

// Row is a row by column: nil for NULL, int64 for INTEGER, float64, bool, []byte, and a time.Time in UTC for TIMESTAMP.
// DATE, TIME and DATETIME are texts like 2026-01-02, 03:04:05.000006 and 2026-01-02T03:04:05.000006, NUMERIC and
// BIGNUMERIC the shortest text of the number, all other types the text that was sent. A STRUCT is a Row, a RANGE a Row
// of start and end, and what is REPEATED an []any. It has all columns that the table had when the row was stored.
type Row map[string]any

// stored is a row with its change, if it is one.
type stored struct {
	row      Row
	change   string // UPSERT or DELETE; empty for a row that is just appended
	sequence []uint64
}

// decoder makes rows of what a walker found good.
type decoder struct {
	columns []*column
	fill    func(*field) bool
	now     time.Time
}

func (d *decoder) row(m *message, data []byte) stored {
	row := empty(d.columns)
	for _, c := range m.absent {
		if c.expression != "" {
			row[c.name] = d.evaluate(c)
		}
	}
	given := make(map[*column]bool)
	decode(m, data, row, given)
	for _, f := range m.fields {
		if !given[f.col] && d.fill(f) {
			row[f.name] = d.evaluate(f.col)
		}
	}
	s := stored{row: row}
	if text, ok := row[changeTypeName].(string); ok {
		s.change = text
	}
	if text, ok := row[changeSequenceName].(string); ok {
		s.sequence, _ = parseSequence(text)
	}
	delete(row, changeTypeName)
	delete(row, changeSequenceName)
	return s
}

// empty is a row of nulls and empty arrays.
func empty(columns []*column) Row {
	row := make(Row, len(columns))
	for _, c := range columns {
		row[c.name] = nil
		if c.repeated() {
			row[c.name] = []any{}
		}
	}
	return row
}

// decode puts a message's values into a row. given, unless it is nil, notes which columns have one.
func decode(m *message, data []byte, row Row, given map[*column]bool) {
	for len(data) > 0 {
		number, wire, n := tag(data)
		f := m.field(number)
		s, length := scalarOf(wire, data[n:])
		data = data[n+length:]
		if given != nil {
			given[f.col] = true
		}
		if wire != f.wire {
			for rest := s.bytes; len(rest) > 0; {
				one, n := scalarOf(f.wire, rest)
				rest = rest[n:]
				put(f, one, row)
			}
			continue
		}
		put(f, s, row)
	}
}

func put(f *field, s scalar, row Row) {
	if !f.repeated {
		before, _ := row[f.name].(Row)
		row[f.name] = whole(f, s, before)
		return
	}
	list, _ := row[f.name].([]any)
	row[f.name] = append(list, whole(f, s, nil))
}

// whole is a value, for a STRUCT together with what was sent of it before, as Protocol Buffers merges fields.
func whole(f *field, s scalar, before Row) any {
	if f.inner == nil {
		return convert(f, s)
	}
	inner := before
	if inner == nil {
		inner = empty(f.col.fields)
	}
	decode(f.inner, s.bytes, inner, nil)
	return inner
}

// evaluate is the value of a default value expression.
func (d *decoder) evaluate(c *column) any {
	v, err := evaluate(c, d.now)
	if err != nil {
		return nil // binding refused it before
	}
	return v
}

// evaluate knows literals of plain types and the functions that are used most.
func evaluate(c *column, now time.Time) (any, error) {
	text := strings.TrimSpace(c.expression)
	switch strings.ToUpper(strings.ReplaceAll(text, " ", "")) {
	case "NULL":
		return nil, nil
	case "TRUE":
		return true, nil
	case "FALSE":
		return false, nil
	case "CURRENT_TIMESTAMP()", "CURRENT_TIMESTAMP":
		return now, nil
	case "CURRENT_DATETIME()", "CURRENT_DATETIME":
		return datetimeText(now.UnixMicro()), nil
	case "CURRENT_DATE()", "CURRENT_DATE":
		return now.Format("2006-01-02"), nil
	case "GENERATE_UUID()":
		return uuid.NewString(), nil
	case "[]":
		return []any{}, nil
	}
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] &&
		!strings.ContainsAny(text[1:n-1], `\'"`) {
		return literal(c, text[1:n-1], true)
	}
	return literal(c, text, false)
}

// literal reads a number, or the text of any type in quotes.
func literal(c *column, text string, quoted bool) (any, error) {
	unknown := fmt.Errorf("column %s: this server does not evaluate the default value %s", c.name, c.expression)
	f := &field{col: c, typ: stringType, wire: protowire.BytesType}
	switch c.kind {
	case storagepb.TableFieldSchema_INT64:
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return v, nil
		}
		return nil, unknown
	case storagepb.TableFieldSchema_DOUBLE:
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v, nil
		}
		return nil, unknown
	case storagepb.TableFieldSchema_NUMERIC, storagepb.TableFieldSchema_BIGNUMERIC:
	case storagepb.TableFieldSchema_STRUCT, storagepb.TableFieldSchema_RANGE, storagepb.TableFieldSchema_BYTES:
		return nil, unknown
	default:
		if !quoted {
			return nil, unknown
		}
	}
	s := scalar{bytes: []byte(text)}
	if reason := check(f, s); reason != "" {
		return nil, unknown
	}
	return convert(f, s), nil
}
