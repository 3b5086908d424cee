package deletes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"slices"

	"firn/internal/record"
)

// keyed is equality deletes by the same columns.
type keyed struct {
	ids    []int // ascending
	schema *record.Schema
	files  []*applying
	to     []int // data files to which one of them may apply
}

// equality takes in the rows whose values an equality delete of a higher sequence number has.
func (f *finder) equality(ctx context.Context, all []*applying) error {
	sets := make(map[string]*keyed)
	for _, a := range all {
		ids := slices.Compact(slices.Sorted(slices.Values(a.EqualityIDs)))
		if len(ids) == 0 {
			return fmt.Errorf("delete file %s is an equality delete by no column", a.Path)
		}
		name := fmt.Sprint(ids)
		if sets[name] == nil {
			sets[name] = &keyed{ids: ids}
		}
		sets[name].files = append(sets[name].files, a)
	}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		if err := f.keyed(ctx, sets[name]); err != nil {
			return err
		}
	}
	return nil
}

// keyBytes is about what a key takes in memory beside its bytes, of which there are four times the compressed ones.
const keyBytes = 64

func (f *finder) keyed(ctx context.Context, k *keyed) error {
	k.schema = &record.Schema{}
	for _, id := range k.ids {
		field, err := f.Field(id)
		if err != nil {
			return fmt.Errorf("delete file %s: %w", k.files[0].Path, err)
		}
		k.schema.Fields = append(k.schema.Fields, field)
	}
	applies, bytes := make(map[int]bool), int64(0)
	for _, a := range k.files {
		for _, i := range a.to {
			applies[i] = true
		}
		bytes += a.Rows*keyBytes + 4*a.SizeBytes
	}
	k.to = slices.Sorted(maps.Keys(applies))
	parts := uint64(bytes/f.KeyBytesMax) + 1
	for part := range parts {
		if err := f.keyedPart(ctx, k, part, parts); err != nil {
			return err
		}
	}
	return nil
}

// keyedPart does the keys whose hash belongs to a part of all.
func (f *finder) keyedPart(ctx context.Context, k *keyed, part, parts uint64) error {
	var keys keySet
	for _, a := range k.files {
		err := f.open(ctx, a.Path, func(file io.ReaderAt) error {
			return f.each(ctx, file, a.SizeBytes, k.schema, k.ids, func(b *record.Batch, _ int64) error {
				return keys.addBatch(b, a.Sequence, part, parts)
			})
		})
		if err != nil {
			return fmt.Errorf("reading delete file %s: %w", a.Path, err)
		}
	}
	for _, i := range k.to {
		d := &f.data[i]
		err := f.each(ctx, d.Bytes, d.SizeBytes, k.schema, nil, func(b *record.Batch, first int64) error {
			return f.match(b, first, &keys, i)
		})
		if err != nil {
			return fmt.Errorf("reading the columns of equality deletes in %s: %w", d.Path, err)
		}
	}
	return nil
}

// keySet is keys with the highest sequence number at which each was deleted.
type keySet struct {
	newest map[string]int64
	key    []byte
}

// keySeed is of the hash by which keys are taken in parts.
var keySeed = maphash.MakeSeed()

func (s *keySet) addBatch(b *record.Batch, sequence int64, part, parts uint64) error {
	if s.newest == nil {
		s.newest = make(map[string]int64)
	}
	for i := range b.Rows {
		key, err := s.keyAt(b, i)
		if err != nil {
			return err
		}
		if parts > 1 && maphash.Bytes(keySeed, key)%parts != part {
			continue
		}
		if s.newest[string(key)] < sequence {
			s.newest[string(key)] = sequence
		}
	}
	return nil
}

func (f *finder) match(b *record.Batch, first int64, keys *keySet, data int) error {
	found, sequence := &f.found[data], f.data[data].Sequence
	for i := range b.Rows {
		if found.Has(first + int64(i)) {
			continue
		}
		key, err := keys.keyAt(b, i)
		if err != nil {
			return err
		}
		if deleted, ok := keys.newest[string(key)]; ok && deleted > sequence && !found.add(first+int64(i)) {
			return fmt.Errorf("it has a row %d, and is said to have %d", first+int64(i), found.rows)
		}
	}
	return nil
}

// keyAt is the values of all columns in a row, so that equal ones have equal bytes. It is good until the next call.
func (s *keySet) keyAt(b *record.Batch, row int) ([]byte, error) {
	s.key = s.key[:0]
	for j := range b.Columns {
		c := &b.Columns[j]
		for c.Field.Type.Kind == record.KindStruct {
			c = &c.Children[0]
		}
		var err error
		if s.key, err = appendKey(s.key, c, row); err != nil {
			return nil, err
		}
	}
	return s.key, nil
}

// errKeyType means that a column of an equality delete is one that cannot be (Iceberg specification, "Equality Delete
// Files").
var errKeyType = errors.New("it is a list or a map, by which rows cannot be deleted")

func appendKey(out []byte, c *record.Column, row int) ([]byte, error) {
	if !c.Valid[row] {
		return append(out, 0), nil
	}
	out = append(out, 1)
	switch c.Field.Type.Kind {
	case record.KindBoolean:
		if c.Bools[row] {
			return append(out, 1), nil
		}
		return append(out, 0), nil
	case record.KindInt, record.KindDate:
		return binary.LittleEndian.AppendUint32(out, uint32(c.Ints32[row])), nil
	case record.KindFloat:
		v := c.Floats32[row]
		if v != v { // all of them are equal
			v = float32(math.NaN())
		}
		return binary.LittleEndian.AppendUint32(out, math.Float32bits(v)), nil
	case record.KindDouble:
		v := c.Floats64[row]
		if v != v {
			v = math.NaN()
		}
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(v)), nil
	case record.KindString, record.KindBinary:
		out = binary.AppendUvarint(out, uint64(len(c.Bytes[row])))
		return append(out, c.Bytes[row]...), nil
	case record.KindList, record.KindMap, record.KindStruct:
		return out, fmt.Errorf("column %s: %w", c.Field.Name, errKeyType)
	default:
		if c.Field.Type.Width() > 0 {
			return append(out, c.FixedAt(row)...), nil
		}
		return binary.LittleEndian.AppendUint64(out, uint64(c.Ints64[row])), nil
	}
}
