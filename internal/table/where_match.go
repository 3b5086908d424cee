package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// The Iceberg library can filter rows while it scans, but its evaluation panics in a goroutine of its own for some
// types (IS NULL of a decimal in v0.7.0), which would end the process. So a condition chooses files there, and rows
// here.

// matching says which rows of a batch a condition is true for. The condition is bound to the schema, whose top-level
// columns the batch has by name.
func matching(batch arrow.RecordBatch, schema *iceberg.Schema, bound iceberg.BooleanExpression) ([]bool, error) {
	m := &matcher{batch: batch, schema: schema, rows: int(batch.NumRows())}
	mask, err := iceberg.VisitExpr[[]bool](bound, m)
	if m.err != nil {
		return nil, m.err
	}
	return mask, err
}

// matcher evaluates a bound condition over all rows of a batch. Every method returns a mask of its own. parseWhere has
// pushed negations down to the comparisons, so a mask need not tell false from null.
type matcher struct {
	batch  arrow.RecordBatch
	schema *iceberg.Schema
	rows   int
	err    error // the first
}

func (m *matcher) mask(keep func(i int) bool) []bool {
	mask := make([]bool, m.rows)
	for i := range mask {
		mask[i] = keep(i)
	}
	return mask
}

func (m *matcher) none(err error) []bool {
	if m.err == nil {
		m.err = err
	}
	return make([]bool, m.rows)
}

func (m *matcher) VisitTrue() []bool  { return m.mask(func(int) bool { return true }) }
func (m *matcher) VisitFalse() []bool { return make([]bool, m.rows) }

func (m *matcher) VisitNot(child []bool) []bool { return m.mask(func(i int) bool { return !child[i] }) }

func (m *matcher) VisitAnd(a, b []bool) []bool {
	return m.mask(func(i int) bool { return a[i] && b[i] })
}

func (m *matcher) VisitOr(a, b []bool) []bool {
	return m.mask(func(i int) bool { return a[i] || b[i] })
}

func (m *matcher) VisitUnbound(p iceberg.UnboundPredicate) []bool {
	return m.none(fmt.Errorf("condition %s is not bound to a schema", p))
}

func (m *matcher) VisitBound(p iceberg.BoundPredicate) []bool {
	return iceberg.VisitBoundPredicate[[]bool](p, m)
}

func (m *matcher) VisitIn(t iceberg.BoundTerm, set iceberg.Set[iceberg.Literal]) []bool {
	mask := make([]bool, m.rows)
	for _, lit := range set.Members() {
		mask = m.VisitOr(mask, m.VisitEqual(t, lit))
	}
	return mask
}

func (m *matcher) VisitNotIn(t iceberg.BoundTerm, set iceberg.Set[iceberg.Literal]) []bool {
	in := m.VisitIn(t, set)
	return m.values(t, func(_ arrow.Array, i int) bool { return !in[i] })
}

func (m *matcher) VisitIsNull(t iceberg.BoundTerm) []bool {
	valid := m.VisitNotNull(t)
	return m.VisitNot(valid)
}

func (m *matcher) VisitNotNull(t iceberg.BoundTerm) []bool {
	return m.values(t, func(arrow.Array, int) bool { return true })
}

func (m *matcher) VisitIsNan(t iceberg.BoundTerm) []bool { return m.values(t, isNaN) }

func (m *matcher) VisitNotNan(t iceberg.BoundTerm) []bool {
	return m.values(t, func(a arrow.Array, i int) bool { return !isNaN(a, i) })
}

func isNaN(a arrow.Array, i int) bool {
	switch a := a.(type) {
	case *array.Float32:
		return math.IsNaN(float64(a.Value(i)))
	case *array.Float64:
		return math.IsNaN(a.Value(i))
	default:
		return false
	}
}

func (m *matcher) VisitEqual(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.compare(t, lit, func(order int) bool { return order == 0 })
}

// VisitNotEqual is true for a NaN, which no number equals.
func (m *matcher) VisitNotEqual(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.VisitOr(m.VisitIsNan(t), m.compare(t, lit, func(order int) bool { return order != 0 }))
}

func (m *matcher) VisitGreaterEqual(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.compare(t, lit, func(order int) bool { return order >= 0 })
}

func (m *matcher) VisitGreater(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.compare(t, lit, func(order int) bool { return order > 0 })
}

func (m *matcher) VisitLessEqual(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.compare(t, lit, func(order int) bool { return order <= 0 })
}

func (m *matcher) VisitLess(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.compare(t, lit, func(order int) bool { return order < 0 })
}

func (m *matcher) VisitStartsWith(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.values(t, func(a arrow.Array, i int) bool { return startsWith(a, i, lit) })
}

func (m *matcher) VisitNotStartsWith(t iceberg.BoundTerm, lit iceberg.Literal) []bool {
	return m.values(t, func(a arrow.Array, i int) bool { return !startsWith(a, i, lit) })
}

func startsWith(a arrow.Array, i int, lit iceberg.Literal) bool {
	prefix, _ := lit.Any().(string)
	return strings.HasPrefix(string(rawValue(a, i)), prefix)
}

// values is a mask over the rows in which the column, and every struct that it is in, has a value.
func (m *matcher) values(t iceberg.BoundTerm, keep func(a arrow.Array, i int) bool) []bool {
	path, err := m.columns(t.Ref().PosPath())
	if err != nil {
		return m.none(err)
	}
	leaf := path[len(path)-1]
	if e, ok := leaf.(array.ExtensionArray); ok {
		leaf = e.Storage()
	}
	return m.mask(func(i int) bool {
		for _, a := range path {
			if a.IsNull(i) {
				return false
			}
		}
		return keep(leaf, i)
	})
}

// columns is the arrays on the way to a column, from the top.
func (m *matcher) columns(positions []int) ([]arrow.Array, error) {
	name := m.schema.Field(positions[0]).Name
	at := m.batch.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, fmt.Errorf("column %s is %d times in what was read", name, len(at))
	}
	path := []arrow.Array{m.batch.Column(at[0])}
	for _, position := range positions[1:] {
		parent, ok := path[len(path)-1].(*array.Struct)
		if !ok || position >= parent.NumField() {
			return nil, fmt.Errorf("column %s is no struct with a field %d", name, position)
		}
		path = append(path, parent.Field(position))
	}
	return path, nil
}

// compare keeps the rows whose value stands to the literal as keep wants. A NaN stands to nothing.
func (m *matcher) compare(t iceberg.BoundTerm, lit iceberg.Literal, keep func(order int) bool) []bool {
	return m.values(t, func(a arrow.Array, i int) bool {
		if isNaN(a, i) {
			return false
		}
		order, ok := orderOf(a, i, lit.Any())
		if !ok {
			m.none(fmt.Errorf("a literal %s of type %s does not compare with Arrow %s", lit, lit.Type(), a.DataType()))
		}
		return ok && keep(order)
	})
}

// orderOf compares value i with a literal of the same type; ok is false when it is of another.
func orderOf(a arrow.Array, i int, lit any) (order int, ok bool) {
	switch lit := lit.(type) {
	case string:
		return strings.Compare(string(rawValue(a, i)), lit), rawValue(a, i) != nil
	case []byte:
		return bytes.Compare(rawValue(a, i), lit), rawValue(a, i) != nil
	case uuid.UUID:
		return bytes.Compare(rawValue(a, i), lit[:]), rawValue(a, i) != nil
	case iceberg.Decimal:
		return orderOfDecimal(a, i, lit)
	case bool:
		a, ok := a.(*array.Boolean)
		return ordered(ok, func() int { return cmp.Compare(bit(a.Value(i)), bit(lit)) })
	case float32:
		a, ok := a.(*array.Float32)
		return ordered(ok, func() int { return cmp.Compare(a.Value(i), lit) })
	case float64:
		a, ok := a.(*array.Float64)
		return ordered(ok, func() int { return cmp.Compare(a.Value(i), lit) })
	}
	value, isInteger := integerValue(a, i)
	wanted, wantInteger := integerLiteral(lit)
	return cmp.Compare(value, wanted), isInteger && wantInteger
}

func ordered(ok bool, order func() int) (int, bool) {
	if !ok {
		return 0, false
	}
	return order(), true
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func orderOfDecimal(a arrow.Array, i int, lit iceberg.Decimal) (int, bool) {
	d, ok := a.(*array.Decimal128)
	if !ok || int(d.DataType().(*arrow.Decimal128Type).Scale) != lit.Scale {
		return 0, false
	}
	return d.Value(i).Cmp(lit.Val), true
}

// rawValue is the bytes of a text or binary value, never nil for one; nil for other types.
func rawValue(a arrow.Array, i int) []byte {
	switch a := a.(type) {
	case *array.String:
		return []byte(a.Value(i))
	case *array.LargeString:
		return []byte(a.Value(i))
	case *array.Binary:
		return append([]byte{}, a.Value(i)...)
	case *array.LargeBinary:
		return append([]byte{}, a.Value(i)...)
	case *array.FixedSizeBinary:
		return a.Value(i)
	default:
		return nil
	}
}

// integerValue is a value that is kept as an integer, in the unit of its column.
func integerValue(a arrow.Array, i int) (int64, bool) {
	switch a := a.(type) {
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Date32:
		return int64(a.Value(i)), true
	case *array.Time64:
		return int64(a.Value(i)), true
	case *array.Timestamp:
		return int64(a.Value(i)), true
	default:
		return 0, false
	}
}

func integerLiteral(lit any) (int64, bool) {
	switch lit := lit.(type) {
	case int32:
		return int64(lit), true
	case int64:
		return lit, true
	case iceberg.Date:
		return int64(lit), true
	case iceberg.Time:
		return int64(lit), true
	case iceberg.Timestamp:
		return int64(lit), true
	case iceberg.TimestampNano:
		return int64(lit), true
	default:
		return 0, false
	}
}
