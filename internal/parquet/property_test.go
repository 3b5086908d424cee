package parquet

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"firn/internal/record"
)

// schemaGen draws schemas with fresh field ids.
type schemaGen struct {
	t  *rapid.T
	id int
}

func (g *schemaGen) schema() *record.Schema {
	return &record.Schema{Fields: g.fields(4, rapid.IntRange(1, 3).Draw(g.t, "columns"))}
}

func (g *schemaGen) fields(depth, n int) []record.Field {
	fields := make([]record.Field, n)
	for i := range fields {
		g.id++
		fields[i] = record.Field{ID: g.id, Name: fmt.Sprint("f", g.id), Required: rapid.Bool().Draw(g.t, "required")}
		fields[i].Type = g.typ(depth)
	}
	return fields
}

func (g *schemaGen) typ(depth int) record.Type {
	kinds := 20
	if depth > 1 {
		kinds = 29
	}
	switch k := rapid.IntRange(0, kinds).Draw(g.t, "kind"); {
	case k < 20:
		return samples()[k].typ
	case k < 23:
		return structOf(g.fields(depth-1, rapid.IntRange(1, 3).Draw(g.t, "fields"))...)
	case k < 26:
		return record.Type{Kind: record.KindList, Fields: g.fields(depth-1, 1)}
	case k < 29:
		fields := g.fields(depth-1, 2)
		fields[0].Required = true
		return record.Type{Kind: record.KindMap, Fields: fields}
	default:
		p := rapid.IntRange(1, 38).Draw(g.t, "precision")
		return record.Type{Kind: record.KindDecimal, Precision: p, Scale: rapid.IntRange(0, p).Draw(g.t, "scale")}
	}
}

// value draws a value of the field; dull ones are from few, so that dictionaries come about.
func value(t *rapid.T, f *record.Field, dull bool) any {
	if !f.Required && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	switch f.Type.Kind {
	case record.KindStruct:
		fields := make([]any, len(f.Type.Fields))
		for i := range fields {
			fields[i] = value(t, &f.Type.Fields[i], dull)
		}
		return fields
	case record.KindList:
		elements := make([]any, rapid.IntRange(0, 3).Draw(t, "elements"))
		for i := range elements {
			elements[i] = value(t, &f.Type.Fields[0], dull)
		}
		return elements
	case record.KindMap:
		pairs := make([]any, rapid.IntRange(0, 2).Draw(t, "pairs"))
		for i := range pairs {
			pairs[i] = [2]any{value(t, &f.Type.Fields[0], dull), value(t, &f.Type.Fields[1], dull)}
		}
		return pairs
	}
	return primitive(t, f.Type, dull)
}

func primitive(t *rapid.T, typ record.Type, dull bool) any {
	if typ.Kind == record.KindDecimal {
		end := int64(1)
		for range min(typ.Precision, 18) {
			end *= 10
		}
		v := rapid.Int64Range(1-end, end-1).Draw(t, "decimal")
		if typ.Precision > 18 {
			return decimal16(v)
		}
		return v
	}
	if dull {
		for _, s := range samples() {
			if s.typ.Kind == typ.Kind {
				return rapid.SampledFrom(s.values).Draw(t, "value")
			}
		}
	}
	switch typ.Kind {
	case record.KindBoolean:
		return rapid.Bool().Draw(t, "boolean")
	case record.KindInt, record.KindDate:
		return rapid.Int32().Draw(t, "int")
	case record.KindFloat:
		return rapid.Float32().Draw(t, "float")
	case record.KindDouble:
		return rapid.Float64().Draw(t, "double")
	case record.KindString:
		return []byte(rapid.String().Draw(t, "string"))
	case record.KindBinary:
		return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "binary")...)
	case record.KindUUID, record.KindFixed:
		return rapid.SliceOfN(rapid.Byte(), typ.Width(), typ.Width()).Draw(t, "fixed")
	default:
		return rapid.Int64().Draw(t, "long")
	}
}

// someRows is up to n random rows, or, where they are to be dull, few values five times.
func someRows(rt *rapid.T, s *record.Schema, n int) [][]any {
	rows := make([][]any, rapid.IntRange(0, n).Draw(rt, "rows"))
	dull := rapid.Bool().Draw(rt, "dull")
	for i := range rows {
		rows[i] = make([]any, len(s.Fields))
		for j := range s.Fields {
			rows[i][j] = value(rt, &s.Fields[j], dull)
		}
	}
	if dull {
		rows = repeat(rows, 5*len(rows))
	}
	return rows
}

// TestRoundTrip writes random rows of random schemas, nested up to four deep, with random options, and reads them back
// with two other implementations.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := (&schemaGen{t: rt}).schema()
		rows := someRows(rt, s, 60)
		o := Options{
			PageChecksums:      rapid.Bool().Draw(rt, "checksums"),
			PageVersion:        rapid.IntRange(1, 2).Draw(rt, "version"),
			Encodings:          rapid.SampledFrom([]Encodings{EncodingsCompatible, EncodingsAuto}).Draw(rt, "encodings"),
			PageRowsMax:        rapid.SampledFrom([]int{0, 1, 17}).Draw(rt, "page rows"),
			Codec:              rapid.SampledFrom([]Codec{CodecNone, CodecSnappy, CodecZstd}).Draw(rt, "codec"),
			PageBytesMax:       rapid.IntRange(pageBytesMinMax, 4<<10).Draw(rt, "page"),
			RowGroupBytesMax:   int64(rapid.IntRange(1, 16<<10).Draw(rt, "row group")),
			DictionaryBytesMax: rapid.SampledFrom([]int{0, 16, 1 << 10, 1 << 20}).Draw(rt, "dictionary"),
		}
		f, err := NewFile(s, o)
		if err != nil {
			rt.Fatal(err)
		}
		for range 2 { // the second time with the buffers of the first
			data, d := fillFile(rt, f, s, rows, rapid.IntRange(1, 100).Draw(rt, "step"))
			if len(rows) > 0 {
				checkFile(rt, s, rows, data)
			}
			checkMetrics(rt, s, rows, d)
			f.Reset()
		}
	})
}
