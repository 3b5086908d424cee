package iceberg

import (
	"encoding/binary"

	"firn/internal/record"
)

// splitter groups the rows of a batch by partition value. One Write uses it at a time; its buffers are reused.
type splitter struct {
	terms  []term
	values []values
	groups []group
	byInt  map[int64]int
	byKey  map[string]int
	key    []byte
}

// group is the rows of a batch that share a partition value. A nil rows means all.
type group struct {
	key   string
	first int // a row of the group, to take the partition value from
	rows  []int32
}

func newSplitter(terms []term) *splitter {
	return &splitter{
		terms: terms, values: make([]values, len(terms)), byInt: map[int64]int{}, byKey: map[string]int{},
	}
}

// split groups the rows. The result is good until the next call.
func (s *splitter) split(columns []record.Column, rows int) []group {
	s.groups = s.groups[:0]
	if rows == 0 {
		return nil
	}
	for i := range s.terms {
		s.terms[i].evaluate(columns, rows, &s.values[i])
	}
	switch {
	case len(s.terms) == 0:
		s.groups = append(s.groups, group{})
	case len(s.terms) == 1 && !s.terms[0].inBytes():
		s.splitByInt(rows)
	default:
		s.splitByKey(rows)
	}
	return s.groups
}

// forget lets go of the batch, whose bytes are large.
func (s *splitter) forget() {
	for i := range s.values {
		clear(s.values[i].bytes)
	}
}

// splitByInt is the common case of one partition field whose value is an integer.
func (s *splitter) splitByInt(rows int) {
	clear(s.byInt)
	v, null, last := &s.values[0], -1, -1
	for i := range rows {
		var g int
		switch {
		case !v.valid[i]:
			if null < 0 {
				null = s.open(i)
			}
			g = null
		case last >= 0 && v.ints[i] == v.ints[s.groups[last].first]:
			g = last
		default:
			known, ok := s.byInt[v.ints[i]]
			if !ok {
				known = s.open(i)
				s.byInt[v.ints[i]] = known
			}
			g, last = known, known
		}
		s.groups[g].rows = append(s.groups[g].rows, int32(i))
	}
}

// splitByKey is the general case.
func (s *splitter) splitByKey(rows int) {
	clear(s.byKey)
	for i := range rows {
		s.key = s.appendKey(s.key[:0], i)
		g, ok := s.byKey[string(s.key)]
		if !ok {
			g = s.open(i)
			s.byKey[s.groups[g].key] = g
		}
		s.groups[g].rows = append(s.groups[g].rows, int32(i))
	}
}

// open starts a group with the value of a row, in the buffers of an earlier one where there is any.
func (s *splitter) open(row int) int {
	n := len(s.groups)
	var rows []int32
	if n < cap(s.groups) {
		rows = s.groups[:n+1][n].rows[:0]
	}
	s.groups = append(s.groups, group{key: string(s.appendKey(s.key[:0], row)), first: row, rows: rows})
	return n
}

// appendKey appends a text that is equal for two rows if and only if their partition values are.
func (s *splitter) appendKey(key []byte, row int) []byte {
	for i := range s.values {
		v := &s.values[i]
		switch {
		case !v.valid[row]:
			key = append(key, 0)
		case s.terms[i].inBytes():
			key = binary.AppendUvarint(append(key, 1), uint64(len(v.bytes[row])))
			key = append(key, v.bytes[row]...)
		default:
			key = binary.LittleEndian.AppendUint64(append(key, 1), uint64(v.ints[row]))
		}
	}
	return key
}

// partition is the partition value of a row, as a manifest keeps it.
func (s *splitter) partition(row int) []record.PartitionValue {
	out := make([]record.PartitionValue, len(s.terms))
	for i := range s.terms {
		t, v := &s.terms[i], &s.values[i]
		out[i] = record.PartitionValue{FieldID: t.field.FieldID, Type: t.field.Result, Null: !v.valid[row]}
		if out[i].Null {
			continue
		}
		var b []byte
		var n int64
		if t.inBytes() {
			b = v.bytes[row]
		} else {
			n = v.ints[row]
		}
		out[i].Value = serialise(t.field.Result, n, b)
	}
	return out
}
