package record

import "testing"

func TestTypesAreWrittenAsIcebergWritesThem(t *testing.T) {
	element := []Field{{Name: "element", Type: Type{Kind: KindLong}}}
	for want, typ := range map[string]Type{
		"long": {Kind: KindLong}, "timestamptz_ns": {Kind: KindTimestampTZNs}, "invalid": {}, "kind(99)": {Kind: 99},
		"decimal(9, 2)": {Kind: KindDecimal, Precision: 9, Scale: 2}, "fixed[16]": {Kind: KindFixed, Length: 16},
		"list<long>": {Kind: KindList, Fields: element},
		"map<string, list<long>>": {Kind: KindMap, Fields: []Field{
			{Type: Type{Kind: KindString}}, {Type: Type{Kind: KindList, Fields: element}},
		}},
		"struct<a: int, b: struct<>>": {Kind: KindStruct, Fields: []Field{
			{Name: "a", Type: Type{Kind: KindInt}}, {Name: "b", Type: Type{Kind: KindStruct}},
		}},
	} {
		if got := typ.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWidths(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		want int
	}{
		{Type{Kind: KindUUID}, 16}, {Type{Kind: KindFixed, Length: 7}, 7},
		{Type{Kind: KindLong}, 0}, {Type{Kind: KindString}, 0},
		{Type{Kind: KindDecimal, Precision: 18}, 0}, {Type{Kind: KindDecimal, Precision: 19}, 16},
	} {
		if got := c.typ.Width(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.typ, got, c.want)
		}
	}
}

func TestFindWalksIntoStructsOnly(t *testing.T) {
	s := &Schema{Fields: []Field{
		{ID: 1, Name: "a", Type: Type{Kind: KindStruct, Fields: []Field{
			{ID: 2, Name: "b", Type: Type{Kind: KindStruct, Fields: []Field{{ID: 3, Name: "c", Type: Type{Kind: KindInt}}}}},
			{ID: 4, Name: "d.e", Type: Type{Kind: KindInt}},
		}}},
		{ID: 5, Name: "a.b", Type: Type{Kind: KindInt}},
		{ID: 6, Name: "l", Type: Type{Kind: KindList, Fields: []Field{{ID: 7, Name: "element", Type: Type{Kind: KindInt}}}}},
	}}
	for path, want := range map[string]int{
		"a": 1, "a.b": 5, "a.b.c": 3, "a.d.e": 4, "l": 6, "l.element": 0, "x": 0, "": 0, "a.": 0, ".a": 0, "a.b.c.d": 0,
	} {
		f, ok := s.Find(path)
		if f.ID != want || ok != (want > 0) {
			t.Errorf("%q: field %d, %t; want %d", path, f.ID, ok, want)
		}
	}
}
