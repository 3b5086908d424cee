package advise

import (
	"fmt"
	"strconv"
	"strings"

	"firn/internal/record"
)

// Bucketable tells whether Iceberg makes buckets of a kind of column (spec section "Partition Transforms").
func Bucketable(k record.Kind) bool {
	switch k {
	case record.KindInvalid, record.KindBoolean, record.KindFloat, record.KindDouble, record.KindStruct, record.KindList,
		record.KindMap:
		return false
	default:
		return true
	}
}

// Values is the values of a column of a batch, by a dotted path into structs, each as a text that is equal for equal
// ones, and the column's kind.
func Values(b *record.Batch, path string) ([]string, record.Kind, error) {
	columns := b.Columns
	var c *record.Column
	for name := range strings.SplitSeq(path, ".") {
		c = nil
		for i := range columns {
			if columns[i].Field.Name == name {
				c = &columns[i]
			}
		}
		if c == nil {
			return nil, record.KindInvalid, fmt.Errorf("the job writes no column %q", path)
		}
		columns = c.Children
		if c.Field.Type.Kind != record.KindStruct {
			columns = nil
		}
	}
	values := make([]string, b.Rows)
	for i := range values {
		if c.Valid[i] {
			values[i] = "=" + valueAt(c, i)
		}
	}
	return values, c.Field.Type.Kind, nil
}

func valueAt(c *record.Column, i int) string {
	switch {
	case c.Bools != nil:
		return strconv.FormatBool(c.Bools[i])
	case c.Ints32 != nil:
		return strconv.Itoa(int(c.Ints32[i]))
	case c.Ints64 != nil:
		return strconv.FormatInt(c.Ints64[i], 10)
	case c.Floats32 != nil:
		return strconv.FormatFloat(float64(c.Floats32[i]), 'g', -1, 32)
	case c.Floats64 != nil:
		return strconv.FormatFloat(c.Floats64[i], 'g', -1, 64)
	case c.Fixed != nil:
		return string(c.FixedAt(i))
	case c.Bytes != nil:
		return string(c.Bytes[i])
	default:
		return "" // lists and structs: not told apart
	}
}
