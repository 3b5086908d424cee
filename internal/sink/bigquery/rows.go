package bigquery

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// reserve appends room for a length of n bytes.
func reserve(buf []byte, n int) []byte {
	for range n {
		buf = append(buf, 0)
	}
	return buf
}

// setLength writes the length of what follows the n bytes reserved at a position. Where it takes another number of
// bytes the content is moved, so that lengths are as short as can be; it returns the number, which is a good guess for
// the next length of the kind.
func setLength(buf []byte, at, n int) (out []byte, bytes int) {
	length := len(buf) - at - n
	need := varintBytes(uint64(length))
	switch {
	case need > n:
		buf = reserve(buf, need-n)
		copy(buf[at+need:], buf[at+n:at+n+length])
	case need < n:
		copy(buf[at+need:], buf[at+n:])
		buf = buf[:at+need+length]
	}
	binary.PutUvarint(buf[at:at+need], uint64(length))
	return buf, need
}

func varintBytes(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func appendVarint(buf []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		buf = append(buf, byte(v)|0x80)
	}
	return append(buf, byte(v))
}

// errRows is what the rows of a request are when no Encoder made them.
var errRows = errors.New("these bytes are no rows of a request")

// nextRow is the first row of rows, its field and the rest.
func nextRow(rows []byte) (row, field, rest []byte, err error) {
	if len(rows) < 2 || rows[0] != rowsTag {
		return nil, nil, nil, errRows
	}
	length, n := binary.Uvarint(rows[1:])
	if n <= 0 || length > uint64(len(rows)-1-n) {
		return nil, nil, nil, errRows
	}
	end := 1 + n + int(length)
	return rows[1+n : end], rows[:end], rows[end:], nil
}

// WithoutRows appends to into the rows of a request except those of the indexes given, which are in order, as a server
// names the rows that it refuses. The error says that rows are none, or too few.
func WithoutRows(into, rows []byte, indexes []int) ([]byte, error) {
	for i := 0; len(rows) > 0; i++ {
		_, field, rest, err := nextRow(rows)
		if err != nil {
			return nil, fmt.Errorf("reading row %d: %w", i, err)
		}
		rows = rest
		if len(indexes) > 0 && indexes[0] == i {
			indexes = indexes[1:]
			continue
		}
		into = append(into, field...)
	}
	if len(indexes) > 0 {
		return nil, fmt.Errorf("there is no row %d, or the indexes are not in order", indexes[0])
	}
	return into, nil
}
