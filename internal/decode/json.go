package decode

import (
	"fmt"

	"firn/internal/record"
)

// JSONOptions says how strict JSON is where RFC 8259 leaves a choice. The zero value is not valid: start from
// DefaultJSONOptions.
type JSONOptions struct {
	// RejectUnknownFields rejects a record with a key that the schema does not have. Otherwise such a key is ignored,
	// but its value must still be valid JSON.
	RejectUnknownFields bool
	// AcceptNumbersInStrings lets "12" fill an int, long, float or double column, by the same rules as 12.
	AcceptNumbersInStrings bool
	// RejectDuplicateKeys rejects a record in which an object of the schema, or a map, has a key twice. Otherwise the
	// last one wins, whatever the others hold, as long as it is JSON. Keys of ignored fields are not compared.
	RejectDuplicateKeys bool
	// RejectTombstones rejects records with a null value. Otherwise they are skipped and counted.
	RejectTombstones bool
	// DepthMax is how deep objects and arrays may nest, the record's own object included.
	DepthMax int
}

// DefaultJSONOptions is the options that a job file without a decode section gets. No message in use is known to nest
// as deep as 64, and a table schema cannot use more.
func DefaultJSONOptions() JSONOptions { return JSONOptions{DepthMax: 64} }

// JSON decodes JSON objects (RFC 8259, one a record) into the columns of one schema. It is compiled once and then
// holds scratch space: use one a goroutine.
//
// A key must equal the column's name, in case too. A missing key is null; null or missing rejects the record when the
// field is required, at any depth. What fills a column, and nothing else does:
//
//	boolean                      true, false
//	int, long                    an integer literal in range; 1.0 and 1e3 are not one, -0 is 0
//	float, double                a number, rounded to the nearest value (IEEE 754); rejected when that is infinite
//	decimal                      a number, or a string that holds one; exact: digits beyond the scale must be zeros
//	date                         "2006-01-02", or an integer: days since 1970-01-01
//	time                         "15:04:05.999999", or an integer: microseconds since midnight
//	timestamp, timestamp_ns      "2006-01-02T15:04:05.999999" without a zone, or an integer: micro- or nanoseconds
//	timestamptz, timestamptz_ns  RFC 3339 with Z or any offset, or an integer as above, since 1970 UTC
//	uuid                         a string of 36 characters
//	fixed, binary                a string in base64, standard alphabet, padded (RFC 4648 section 4)
//	string                       a string
//	string of type JSON          any value but null, as its text, blanks inside included
//	struct, list, map            an object, an array, an object; map keys are read as a string for the key type
//
// Integers for timestamps count from 1970, always in the column's own unit. A fraction of a second may have more
// digits than the unit only if these are zeros. A blank or a lower-case t may stand for the T.
type JSON struct {
	options JSONOptions
	root    object
	lists   []*record.Column // lists and maps that have an entry a row, of the batch at hand

	b         []byte // the record value at hand
	marks     marks  // of b
	scratch   []byte // an unescaped string, until the next one
	arena     []byte // strings that live on in batches; never rewritten
	date      date
	postponed []postponed // of the objects that are open, outer ones first
	nesting   []byte      // brackets that are open in a value that is skipped
	order     []int32
	fault     fault
}

// scratchBytesMax is what is kept between blocks. Few messages are larger, and those that are should not pin memory.
const scratchBytesMax = 1 << 20

// NewJSON compiles a decoder for the schema. The error names every field that JSON cannot fill.
func NewJSON(schema *record.Schema, o JSONOptions) (*JSON, error) {
	if o.DepthMax < 1 {
		return nil, fmt.Errorf("depth_max %d is less than 1", o.DepthMax)
	}
	d := &JSON{options: o, date: date1970}
	if err := compile(&d.root, schema, o); err != nil {
		return nil, fmt.Errorf("compiling the schema for JSON: %w", err)
	}
	return d, nil
}

// Decode appends one row to the batch for each good record of the block, in order, and one entry to batch.Rejected
// for each bad one. It returns the number of tombstones and control records that it skipped. The batch must be made
// for this decoder's schema, or Decode panics. Its strings alias the record values where they hold no escape, and
// memory that is never written again where they do; so they are good as long as the block is.
func (d *JSON) Decode(block *record.Block, batch *record.Batch) (tombstones, controls int) {
	d.bind(batch)
	extend(batch.Columns, len(block.Records))
	for i := range block.Records {
		r := &block.Records[i]
		switch {
		case r.Control:
			controls++
		case r.Value == nil && !d.options.RejectTombstones:
			tombstones++
		case d.record(r.Value, batch.Rows):
			batch.Rows++
		default:
			clearRow(batch.Columns, batch.Rows)
			batch.Rejected = append(batch.Rejected, d.fault.rejected(block.TopicPartition, *r))
		}
	}
	for i := range batch.Columns {
		batch.Columns[i].Truncate(batch.Rows)
	}
	d.release()
	return tombstones, controls
}

// record decodes one value into row, or says false and leaves the reason in d.fault and the row dirty.
func (d *JSON) record(value []byte, row int) bool {
	d.b = value
	d.marks.mark(value)
	d.postponed = d.postponed[:0]
	for _, c := range d.lists {
		c.Offsets[row+1] = c.Offsets[row]
	}
	p := space(value, 0)
	if p >= len(value) {
		d.fail("", p, emptyReason(value))
		return false
	}
	if value[p] != '{' {
		d.fail("", p, "expected an object, found "+describe(value, p))
		return false
	}
	if p = d.object(&d.root, p, row); p < 0 {
		return false
	}
	if p = space(value, p); p < len(value) {
		d.fail("", p, "text after the end of the object: "+describe(value, p))
		return false
	}
	return true
}

// release lets go of the block's memory.
func (d *JSON) release() {
	d.b = nil
	if cap(d.marks.bits) > scratchBytesMax/8 {
		d.marks.bits = nil
	}
	if cap(d.scratch) > scratchBytesMax {
		d.scratch = nil
	}
	if cap(d.nesting) > scratchBytesMax {
		d.nesting = nil
	}
	if cap(d.order) > scratchBytesMax {
		d.order = nil
	}
}
