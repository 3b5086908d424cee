package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// compact reads Thrift's compact protocol from bytes that may be anything. The first fault is kept, after which every
// read yields zero and every loop over fields ends. What it returns lies in b. parquet-go's decoder is not used for
// reading: it makes lists as long as they say they are, and does not tell a null count of 0 from none.
type compact struct {
	b   []byte
	at  int
	err error
}

// The types of the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactInt16  = 4
	compactInt32  = 5
	compactInt64  = 6
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
	compactUUID   = 13
)

// compactDepthMax bounds what is skipped: Parquet's own structures are 7 deep.
const compactDepthMax = 32

// errCut means that the bytes end in the middle of a value.
var errCut = errors.New("its bytes end too early")

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compact) byte() byte {
	if c.err != nil || c.at >= len(c.b) {
		c.fail(errCut)
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *compact) uvarint() uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.b[c.at:])
	switch {
	case n == 0:
		c.fail(errCut)
		return 0
	case n < 0:
		c.fail(errors.New("a number has more than 64 bits"))
		return 0
	}
	c.at += n
	return v
}

// next is the following field of a structure, and false at its end. last is the id of the field before.
func (c *compact) next(last *int16) (typ byte, more bool) {
	head := c.byte()
	if c.err != nil || head == 0 {
		return 0, false
	}
	if delta := int16(head >> 4); delta != 0 {
		*last += delta
	} else {
		*last = int16(c.zigzag())
	}
	return head & 0xF, c.err == nil
}

func (c *compact) zigzag() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// want checks the type of a field.
func (c *compact) want(typ, wanted byte) bool {
	if typ != wanted {
		c.fail(fmt.Errorf("a field has type %d instead of %d", typ, wanted))
	}
	return c.err == nil
}

func (c *compact) int64(typ byte) int64 {
	if !c.want(typ, compactInt64) {
		return 0
	}
	return c.zigzag()
}

func (c *compact) int32(typ byte) int32 {
	if !c.want(typ, compactInt32) {
		return 0
	}
	v := c.zigzag()
	if v < math.MinInt32 || v > math.MaxInt32 {
		c.fail(fmt.Errorf("number %d has more than 32 bits", v))
		return 0
	}
	return int32(v)
}

func (c *compact) int8(typ byte) int8 {
	if !c.want(typ, compactByte) {
		return 0
	}
	return int8(c.byte())
}

func (c *compact) bool(typ byte) bool {
	if typ != compactTrue && typ != compactFalse {
		c.want(typ, compactTrue)
	}
	return c.err == nil && typ == compactTrue
}

// binary is bytes of c.b, never nil without a fault.
func (c *compact) binary(typ byte) []byte {
	if !c.want(typ, compactBinary) {
		return nil
	}
	n := c.uvarint()
	if n > uint64(len(c.b)-c.at) {
		c.fail(errCut)
	}
	if c.err != nil {
		return nil
	}
	from := c.at
	c.at += int(n)
	return c.b[from:c.at:c.at]
}

func (c *compact) string(typ byte) string { return string(c.binary(typ)) }

// list is the number of elements that follow. An element takes at least a byte, so that there are never more of them
// than bytes.
func (c *compact) list(typ, elements byte) int {
	if !c.want(typ, compactList) {
		return 0
	}
	found, n := c.listHead()
	if found == compactFalse {
		found = compactTrue // both are said of lists of booleans
	}
	if n > 0 && found != elements {
		c.fail(fmt.Errorf("a list has elements of type %d instead of %d", found, elements))
		return 0
	}
	return n
}

func (c *compact) listHead() (elements byte, n int) {
	head := c.byte()
	size := uint64(head >> 4)
	if size == 0xF {
		size = c.uvarint()
	}
	if size > uint64(len(c.b)-c.at) {
		c.fail(errCut)
	}
	if c.err != nil {
		return 0, 0
	}
	return head & 0xF, int(size)
}

// skip passes over a field's value.
func (c *compact) skip(typ byte) { c.skipAt(typ, 0) }

func (c *compact) skipAt(typ byte, depth int) {
	if depth > compactDepthMax {
		c.fail(fmt.Errorf("a structure is nested deeper than %d levels", compactDepthMax))
	}
	if c.err != nil {
		return
	}
	switch typ {
	case compactTrue, compactFalse: // the value is in the type
	case compactByte:
		c.byte()
	case compactInt16, compactInt32, compactInt64:
		c.uvarint()
	case compactDouble:
		c.pass(8)
	case compactUUID:
		c.pass(16)
	case compactBinary:
		c.binary(typ)
	case compactList, compactSet:
		elements, n := c.listHead()
		c.skipElements(elements, n, depth+1)
	case compactMap:
		c.skipMap(depth + 1)
	case compactStruct:
		last := int16(0)
		for field, more := c.next(&last); more; field, more = c.next(&last) {
			c.skipAt(field, depth+1)
		}
	default:
		c.fail(fmt.Errorf("a field has unknown type %d", typ))
	}
}

func (c *compact) pass(n int) {
	if n > len(c.b)-c.at {
		c.fail(errCut)
		return
	}
	c.at += n
}

func (c *compact) skipElements(typ byte, n, depth int) {
	for i := 0; i < n && c.err == nil; i++ {
		c.skipElement(typ, depth)
	}
}

// skipElement passes over a value in a list or map, where a boolean has a byte of its own.
func (c *compact) skipElement(typ byte, depth int) {
	if typ == compactTrue || typ == compactFalse {
		typ = compactByte
	}
	c.skipAt(typ, depth)
}

func (c *compact) skipMap(depth int) {
	n := c.uvarint()
	if n == 0 || c.err != nil {
		return
	}
	types := c.byte()
	for i := uint64(0); i < n && c.err == nil; i++ {
		c.skipElement(types>>4, depth)
		c.skipElement(types&0xF, depth)
	}
}
