package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
)

// deleteIndex is the live delete files of a snapshot, to tell which may apply to a data file (specification, "Scan
// Planning").
type deleteIndex struct {
	table *Table
	all   []*deleteEntry
	byKey map[string]*deleteEntry

	named     map[string][]*deleteEntry // for one data file alone, by its path
	positions map[string][]*deleteEntry // by partition
	equality  map[string][]*deleteEntry // by partition
	global    []*deleteEntry            // equality deletes that apply to all partitions
}

// deleteEntry is a live delete file.
type deleteEntry struct {
	record.DeleteFile
	key     string
	entry   iceberg.ManifestEntry
	columns []deleteColumn // of an equality delete, as far as its bounds are known
	low     []byte         // of the paths that a position delete names, as far as known
	high    []byte
	parquet bool
}

// deleteColumn is what an equality delete says of a column.
type deleteColumn struct {
	id        int
	kind      iceberg.Type
	low, high []byte
	nulls     bool // some of its rows may be null there
}

func newDeleteIndex(t *Table) *deleteIndex {
	return &deleteIndex{
		table: t, byKey: make(map[string]*deleteEntry), named: make(map[string][]*deleteEntry),
		positions: make(map[string][]*deleteEntry), equality: make(map[string][]*deleteEntry),
	}
}

// fieldFilePath is the reserved id of the paths in position deletes (specification, "Reserved Field IDs").
const fieldFilePath = 2147483546

// describeDelete is a delete file as a reader of it needs it.
func describeDelete(e iceberg.ManifestEntry) record.DeleteFile {
	f := e.DataFile()
	d := record.DeleteFile{
		Path: f.FilePath(), SizeBytes: f.FileSizeBytes(), Rows: f.Count(), Sequence: e.SequenceNum(),
		EqualityIDs: f.EqualityFieldIDs(), Offset: valueOf(f.ContentOffset()), Length: valueOf(f.ContentSizeInBytes()),
	}
	switch {
	case f.ContentType() == iceberg.EntryContentEqDeletes:
		d.Content = record.DeleteEquality
	case f.FileFormat() == iceberg.PuffinFile:
		d.Content = record.DeleteVector
	}
	return d
}

// deleteKey tells a delete file from others: a file may hold many vectors.
func deleteKey(e iceberg.ManifestEntry) string {
	d := describeDelete(e)
	return d.Key()
}

func (x *deleteIndex) add(e iceberg.ManifestEntry) {
	f := e.DataFile()
	d := &deleteEntry{DeleteFile: describeDelete(e), entry: e}
	d.key = d.Key()
	d.parquet = f.FileFormat() == iceberg.ParquetFile || d.Content == record.DeleteVector
	x.all = append(x.all, d)
	x.byKey[d.key] = d
	partition := partitionKey(f)
	if d.Content == record.DeleteEquality {
		x.describeColumns(d, f)
		if spec, err := x.table.spec(int(f.SpecID())); err != nil || spec.IsUnpartitioned() {
			x.global = append(x.global, d)
		} else {
			x.equality[partition] = append(x.equality[partition], d)
		}
		return
	}
	if named := f.ReferencedDataFile(); named != nil {
		x.named[*named] = append(x.named[*named], d)
		return
	}
	d.low, d.high = f.LowerBoundValues()[fieldFilePath], f.UpperBoundValues()[fieldFilePath]
	x.positions[partition] = append(x.positions[partition], d)
}

func (x *deleteIndex) describeColumns(d *deleteEntry, f iceberg.DataFile) {
	low, high, nulls, nans := f.LowerBoundValues(), f.UpperBoundValues(), f.NullValueCounts(), f.NaNValueCounts()
	for _, id := range d.EqualityIDs {
		field, ok := x.table.fieldByID(id)
		if !ok || low[id] == nil || high[id] == nil || mayBeNaN(field.Type, nans, id) {
			continue
		}
		n, known := nulls[id]
		d.columns = append(d.columns, deleteColumn{id, field.Type, low[id], high[id], !known || n > 0})
	}
}

// mayBeNaN tells whether values may be NaN, which bounds leave out.
func mayBeNaN(t iceberg.Type, nans map[int]int64, id int) bool {
	n, known := nans[id]
	return isFloat(t) && (!known || n > 0)
}

// applying is the delete files that may apply to a data file whose rows have the sequence number.
func (x *deleteIndex) applying(f iceberg.DataFile, sequence int64) (found []*deleteEntry) {
	path, partition := f.FilePath(), partitionKey(f)
	for _, d := range x.named[path] {
		if d.Sequence >= sequence {
			found = append(found, d)
		}
	}
	for _, d := range x.positions[partition] {
		if d.Sequence >= sequence && d.mayName(path) {
			found = append(found, d)
		}
	}
	return append(found, x.applyingEquality(f, partition, sequence)...)
}

// mayName tells whether a position delete may be of the data file, by its bounds.
func (d *deleteEntry) mayName(path string) bool {
	return (d.low == nil || bytes.Compare(d.low, []byte(path)) <= 0) &&
		(d.high == nil || bytes.Compare(d.high, []byte(path)) >= 0)
}

func (x *deleteIndex) applyingEquality(f iceberg.DataFile, partition string, sequence int64) (found []*deleteEntry) {
	if len(x.global)+len(x.equality[partition]) == 0 {
		return nil
	}
	low, high, nulls := f.LowerBoundValues(), f.UpperBoundValues(), f.NullValueCounts()
	apart := func(c deleteColumn) bool {
		n, known := nulls[c.id]
		mayBeNull := c.nulls && (!known || n > 0)
		return !mayBeNull && apart(c.kind, low[c.id], high[c.id], c.low, c.high)
	}
	for _, some := range [][]*deleteEntry{x.equality[partition], x.global} {
		for _, d := range some {
			if d.Sequence > sequence && !slices.ContainsFunc(d.columns, apart) {
				found = append(found, d)
			}
		}
	}
	return found
}

// apart tells whether no value can be in both ranges. Bounds that are not known are nil.
func apart(t iceberg.Type, low, high, otherLow, otherHigh []byte) bool {
	below := func(a, b []byte) bool {
		order, ok := compareBounds(t, a, b)
		return ok && order < 0
	}
	return low != nil && below(otherHigh, low) || high != nil && below(high, otherLow)
}

// compareBounds compares values in Iceberg's single-value serialisation (specification, appendix D), or says that they
// cannot be compared. Those of before a promotion are shorter.
func compareBounds(t iceberg.Type, a, b []byte) (order int, ok bool) {
	switch t.(type) {
	case iceberg.StringType, iceberg.BinaryType, iceberg.UUIDType, iceberg.FixedType:
		return bytes.Compare(a, b), true
	case iceberg.Int32Type, iceberg.Int64Type, iceberg.DateType, iceberg.TimeType, iceberg.TimestampType,
		iceberg.TimestampTzType, iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		x, okX := littleEndian(a)
		y, okY := littleEndian(b)
		return compareOrdered(x, y), okX && okY
	case iceberg.Float32Type, iceberg.Float64Type:
		x, okX := floatBound(a)
		y, okY := floatBound(b)
		return compareOrdered(x, y), okX && okY
	case iceberg.DecimalType:
		return bigEndian(a).Cmp(bigEndian(b)), len(a) > 0 && len(b) > 0
	default:
		return 0, false
	}
}

func compareOrdered[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func littleEndian(b []byte) (int64, bool) {
	switch len(b) {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), true
	case 8:
		return int64(binary.LittleEndian.Uint64(b)), true
	default:
		return 0, false
	}
}

func floatBound(b []byte) (float64, bool) {
	var v float64
	switch len(b) {
	case 4:
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 8:
		v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		return 0, false
	}
	return v, !math.IsNaN(v)
}

func bigEndian(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// EqualityField is the column by which equality deletes of the field id delete, from the newest schema that has it: the
// top-level column that it is in, with nothing else in that, and nothing of it required.
func (t *Table) EqualityField(id int) (record.Field, error) {
	schemas := append([]*iceberg.Schema{t.inner.Schema()}, newestSchemas(t.inner.Metadata().Schemas())...)
	for _, s := range schemas {
		if _, ok := s.FindFieldByID(id); !ok {
			continue
		}
		for _, f := range s.Fields() {
			narrowed, ok, err := narrow(f, id)
			if err != nil {
				return record.Field{}, fmt.Errorf("the column of field id %d: %w", id, err)
			}
			if ok {
				return narrowed, nil
			}
		}
	}
	return record.Field{}, fmt.Errorf("no schema of table %s has a column of field id %d by which rows can be deleted",
		t.ident, id)
}

func newestSchemas(all []*iceberg.Schema) []*iceberg.Schema {
	return slices.SortedFunc(slices.Values(all), func(a, b *iceberg.Schema) int { return b.ID - a.ID })
}

// narrow is a field with nothing but the one of the id in it, or false.
func narrow(f iceberg.NestedField, id int) (record.Field, bool, error) {
	out := record.Field{ID: f.ID, Name: f.Name}
	if f.ID == id {
		if f.InitialDefault != nil {
			return out, true, fmt.Errorf("column %s has an initial default, which is not read", f.Name)
		}
		var err error
		out.Type, err = recordType(f.Name, f.Type)
		return out, err == nil && len(out.Type.Fields) == 0, err
	}
	s, ok := f.Type.(*iceberg.StructType)
	if !ok {
		return out, false, nil
	}
	for _, child := range s.FieldList {
		if inner, ok, err := narrow(child, id); ok || err != nil {
			out.Type = record.Type{Kind: record.KindStruct, Fields: []record.Field{inner}}
			return out, ok, err
		}
	}
	return out, false, nil
}

// index reads the live delete files of the table.
func (p *producer) index(ctx context.Context) (*deleteIndex, error) {
	x := newDeleteIndex(p.table)
	entries, err := p.deletes(ctx)
	for _, e := range entries {
		x.add(e)
	}
	return x, err
}
