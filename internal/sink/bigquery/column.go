package bigquery

import (
	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// op is how a field's values become those of a column.
type op uint8

// Numbers come first: a REPEATED column of them is packed.
const (
	opBoolean op = iota
	opInt
	opLong
	opDouble
	opFloat
	opDate
	opTime
	opDatetime
	opTimestamp

	opBytes
	opBytesUpTo
	opTextUpTo
	opFixed
	opUUID
	opDecimal
	opNumberText
	opChangeType
	opChangeSequence

	opStruct
	opList
	opPacked
	opMap
)

// packed tells whether a REPEATED column of the op's values is one run of them.
func (o op) packed() bool { return o <= opTimestamp }

// column is one field of the rows on its way into a column of the table. The first fields are those that every value
// touches.
type column struct {
	col      *record.Column // of the batch at hand
	tag      uint64         // number and wire type
	op       op
	required bool // a null is refused
	// lengthBytes is what the length before the last message or packed run took: the guess for the next one.
	lengthBytes int
	children    []column // of a struct; a list's element; a map's key and value

	lengthMax int       // of opBytesUpTo in bytes and opTextUpTo in characters
	factors   [2]uint64 // from a decimal's scale to the column's, to be multiplied in turn
	whole     int       // digits before the point of an opNumberText
	scale     int       // digits after it
	number    int32
	name      string
	path      string // dotted
	table     *storagepb.TableFieldSchema
}

// Wire types of protocol buffers (protobuf.dev, "Encoding").
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// setNumber gives the column its field number.
func (c *column) setNumber(n int) {
	c.number = int32(n)
	wire := uint64(wireBytes)
	switch {
	case c.op == opDouble || c.op == opFloat:
		wire = wireFixed64
	case c.op.packed():
		wire = wireVarint
	}
	c.tag = uint64(n)<<3 | wire
	c.lengthBytes = 1
	if c.op == opList || c.op == opPacked {
		c.children[0].setNumber(n)
	}
}

// bind points the columns at those of a batch.
func bind(columns []column, batch []record.Column) {
	for i := range columns {
		c := &columns[i]
		c.col = &batch[i]
		if len(c.children) > 0 {
			bind(c.children, c.col.Children)
		}
	}
}
