package bigquery

import (
	"errors"
	"fmt"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/encoding/protowire"
)

type interpretation = storagepb.AppendRowsRequest_MissingValueInterpretation

// request is an AppendRowsRequest, whose slices are views of the bytes that it was parsed from.
type request struct {
	stream    string
	offset    int64
	hasOffset bool
	schema    []byte // ProtoData.writer_schema
	hasSchema bool
	rows      [][]byte
	hasRows   bool // proto_rows is set
	arrow     bool // arrow_rows is set
	trace     string
	missing   map[string]interpretation
	otherwise interpretation // default_missing_value_interpretation
}

var errTruncated = errors.New("the message is cut short")

// parse reads a request anew; the memory of its rows is used again.
func (r *request) parse(data []byte) error {
	*r = request{rows: r.rows[:0]}
	return eachField(data, func(number int, value []byte, n uint64) error {
		switch number {
		case 1:
			r.stream = string(value)
		case 2:
			r.hasOffset = true
			return eachField(value, func(number int, _ []byte, n uint64) error {
				if number == 1 {
					r.offset = int64(n)
				}
				return nil
			})
		case 4:
			r.hasRows = true
			return r.parseRows(value)
		case 5:
			r.arrow = true
		case 6:
			r.trace = string(value)
		case 7:
			return r.parseMissing(value)
		case 8:
			r.otherwise = interpretation(n)
		}
		return nil
	})
}

// parseRows reads a ProtoData.
func (r *request) parseRows(data []byte) error {
	return eachField(data, func(number int, value []byte, _ uint64) error {
		switch number {
		case 1:
			r.schema, r.hasSchema = value, true
		case 2:
			return eachField(value, func(number int, row []byte, _ uint64) error {
				if number == 1 {
					r.rows = append(r.rows, row)
				}
				return nil
			})
		}
		return nil
	})
}

// parseMissing reads an entry of missing_value_interpretations.
func (r *request) parseMissing(data []byte) error {
	var name string
	var how interpretation
	err := eachField(data, func(number int, value []byte, n uint64) error {
		switch number {
		case 1:
			name = string(value)
		case 2:
			how = interpretation(n)
		}
		return nil
	})
	if r.missing == nil {
		r.missing = make(map[string]interpretation)
	}
	r.missing[name] = how
	return err
}

// eachField calls visit for the fields of a message: value is what a field of bytes holds, n what another one does.
func eachField(data []byte, visit func(number int, value []byte, n uint64) error) error {
	for len(data) > 0 {
		number, wire, size := protowire.ConsumeTag(data)
		if size < 0 {
			return fmt.Errorf("reading a tag: %w", protowire.ParseError(size))
		}
		data = data[size:]
		var value []byte
		var n uint64
		switch wire {
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(data)
		default:
			size = protowire.ConsumeFieldValue(number, wire, data)
		}
		if size < 0 {
			return fmt.Errorf("field %d: %w", number, errTruncated)
		}
		data = data[size:]
		if err := visit(int(number), value, n); err != nil {
			return err
		}
	}
	return nil
}
