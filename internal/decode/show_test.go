package decode

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"

	"firn/internal/record"
)

// showRow is a row as text: name=value for each column that is not null.
func showRow(columns []record.Column, row int) string {
	var s []string
	for i := range columns {
		if columns[i].Valid[row] {
			s = append(s, columns[i].Field.Name+"="+showValue(&columns[i], row))
		}
	}
	return strings.Join(s, " ")
}

func showValue(c *record.Column, i int) string {
	if !c.Valid[i] {
		return "null"
	}
	switch t := c.Field.Type; t.Kind {
	case record.KindBoolean:
		return fmt.Sprint(c.Bools[i])
	case record.KindInt, record.KindDate:
		return fmt.Sprint(c.Ints32[i])
	case record.KindFloat:
		return fmt.Sprint(c.Floats32[i])
	case record.KindDouble:
		return fmt.Sprint(c.Floats64[i])
	case record.KindBinary, record.KindString:
		return fmt.Sprintf("%q", c.Bytes[i])
	case record.KindUUID, record.KindFixed:
		return fmt.Sprintf("%x", c.FixedAt(i))
	case record.KindDecimal:
		if t.Precision > 18 {
			return showInt128(c.FixedAt(i))
		}
		return fmt.Sprint(c.Ints64[i])
	case record.KindStruct:
		return "{" + showRow(c.Children, i) + "}"
	case record.KindList, record.KindMap:
		return showList(c, i)
	default:
		return fmt.Sprint(c.Ints64[i])
	}
}

func showInt128(v []byte) string {
	hi := new(big.Int).Lsh(big.NewInt(int64(binary.BigEndian.Uint64(v))), 64)
	return hi.Add(hi, new(big.Int).SetUint64(binary.BigEndian.Uint64(v[8:]))).String()
}

func showList(c *record.Column, i int) string {
	var s []string
	for k := int(c.Offsets[i]); k < int(c.Offsets[i+1]); k++ {
		e := showValue(&c.Children[len(c.Children)-1], k)
		if c.Field.Type.Kind == record.KindMap {
			e = showValue(&c.Children[0], k) + ":" + e
		}
		s = append(s, e)
	}
	return "[" + strings.Join(s, " ") + "]"
}

// checkColumns tells what is wrong with the lengths of the columns' buffers, or that a null holds a value.
func checkColumns(columns []record.Column, n int) error {
	for i := range columns {
		if err := checkColumn(&columns[i], n); err != nil {
			return fmt.Errorf("column %s: %w", columns[i].Field.Name, err)
		}
	}
	return nil
}

func checkColumn(c *record.Column, n int) error {
	want, zero := n, 0
	got := len(c.Bools) + len(c.Ints32) + len(c.Ints64) + len(c.Floats32) + len(c.Floats64) + len(c.Bytes)
	switch c.Field.Type.Kind {
	case record.KindStruct:
		want = 0
	case record.KindList, record.KindMap:
		want, zero = 0, 1
	default:
		if w := c.Field.Type.Width(); w > 0 {
			got, want = len(c.Fixed), n*w
		}
	}
	if c.Len != n || len(c.Valid) != n || got != want || zero == 1 && len(c.Offsets) != n+1 {
		return fmt.Errorf("length %d, %d valid, %d values, %d offsets, want %d rows", c.Len, len(c.Valid), got,
			len(c.Offsets), n)
	}
	for i := range n {
		if !c.Valid[i] && !isZero(c, i) {
			return fmt.Errorf("null at %d holds a value", i)
		}
	}
	if zero == 1 {
		n = int(c.Offsets[n])
	}
	return checkColumns(c.Children, n)
}

func isZero(c *record.Column, i int) bool {
	switch {
	case len(c.Offsets) > 0:
		return c.Offsets[i] == c.Offsets[i+1]
	case len(c.Fixed) > 0:
		return strings.Trim(string(c.FixedAt(i)), "\x00") == ""
	}
	return (len(c.Bools) == 0 || !c.Bools[i]) && (len(c.Ints32) == 0 || c.Ints32[i] == 0) &&
		(len(c.Ints64) == 0 || c.Ints64[i] == 0) && (len(c.Floats32) == 0 || c.Floats32[i] == 0) &&
		(len(c.Floats64) == 0 || c.Floats64[i] == 0) && (len(c.Bytes) == 0 || c.Bytes[i] == nil)
}
