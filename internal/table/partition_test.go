package table

import (
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

func TestParsePartitionField(t *testing.T) {
	for text, want := range map[string]PartitionSource{
		"id":                     {"id", "identity", 0},
		"  id ":                  {"id", "identity", 0},
		"a.b":                    {"a.b", "identity", 0},
		"first name":             {"first name", "identity", 0},
		"identity(id)":           {"id", "identity", 0},
		"bucket(id, 64)":         {"id", "bucket", 64},
		"bucket(id,64)":          {"id", "bucket", 64},
		" bucket ( id , 64 ) ":   {"id", "bucket", 64},
		"bucket(id, 2147483647)": {"id", "bucket", 2147483647},
		"truncate(name, 4)":      {"name", "truncate", 4},
		"year(at)":               {"at", "year", 0},
		"month(at)":              {"at", "month", 0},
		"day(at)":                {"at", "day", 0},
		"hour(at)":               {"at", "hour", 0},
		"void(at)":               {"at", "void", 0},
	} {
		got, err := ParsePartitionField(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got != want {
			t.Errorf("%q was read as %+v, want %+v", text, got, want)
		}
		again, err := ParsePartitionField(got.String())
		if err != nil || again != got {
			t.Errorf("%q is written %q, which is read as %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{
		"", " ", "bucket(id)", "bucket(id, 0)", "bucket(id, -1)", "bucket(id, 2147483648)", "bucket(64, id)", "bucket()",
		"day(at, 1)", "days(at)", "Day(at)", "day(at", "day at)", "id, name", "bucket(id, 64) x", "truncate(name, w)",
		"bucket(id, 99999999999999999999)",
	} {
		if got, err := ParsePartitionField(text); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func FuzzParsePartitionField(f *testing.F) {
	f.Add("bucket(id, 64)")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParsePartitionField(text)
		if err != nil {
			return
		}
		if again, err := ParsePartitionField(got.String()); err != nil || again != got {
			t.Errorf("%q gives %+v, written %q, which gives %+v, %v", text, got, got, again, err)
		}
	})
}

func TestPartitionNamesThatManifestsCanHave(t *testing.T) {
	for text, want := range map[string]string{
		"id": "id", "device.os": "device_os", "bucket(a.b-c, 4)": "a_b_c_bucket", "void(7th)": "_7th_null",
		"truncate(gr\u00f6\u00dfe, 2)": "gr__e_trunc",
	} {
		p, err := ParsePartitionField(text)
		if err != nil || p.name() != want {
			t.Errorf("%s: %s, want %s; error %v", text, p.name(), want, err)
		}
		if !(PartitionField{Name: want}).Writable() || (PartitionField{Name: "a.b"}).Writable() {
			t.Errorf("%s: judged wrong", want)
		}
	}
}

func TestPartitionSpecFaults(t *testing.T) {
	s := freshIDs(&record.Schema{Fields: []record.Field{
		{Name: "id", Type: typ(record.KindLong)},
		{Name: "ratio", Type: typ(record.KindDouble)},
		{Name: "at", Type: typ(record.KindTimestamp)},
		{Name: "at_day", Type: typ(record.KindInt)},
		{Name: "tags", Type: record.Type{Kind: record.KindList, Fields: []record.Field{{
			Name: "element", Type: typ(record.KindString),
		}}}},
	}})
	is, err := icebergSchema(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"missing"}, `no column "missing"`},
		{[]string{"bucket(ratio, 4)"}, "bucket cannot be applied to ratio, which is double"},
		{[]string{"day(id)"}, "day cannot be applied to id, which is long"},
		{[]string{"truncate(at, 4)"}, "truncate cannot be applied to at, which is timestamp"},
		{[]string{"tags"}, "identity cannot be applied to tags"},
		{[]string{"void(tags)"}, "void cannot be applied to tags"},
		{[]string{"tags.element"}, "no column"},
		{[]string{"bucket(id, 4)", "bucket(id, 8)"}, "id_bucket"},
		{[]string{"day(at)"}, "at_day"},
	} {
		if _, err := partitionSpec(c.texts, s, is); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.texts, err, c.want)
		}
	}
}

// The partitioning of a new table is what was asked for, with the names that Iceberg gives where a manifest can have
// them, in every catalog.
func TestCreatePartitioned(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		nested := record.Type{Kind: record.KindStruct, Fields: []record.Field{{Name: "os", Type: typ(record.KindString)}}}
		table, err := c.Create(t.Context(), o.ident, CreateConfig{
			Schema: &record.Schema{Fields: []record.Field{
				{Name: "id", Type: typ(record.KindLong)},
				{Name: "name", Type: typ(record.KindString)},
				{Name: "at", Type: typ(record.KindTimestampTZ)},
				{Name: "made", Type: typ(record.KindTimestamp)},
				{Name: "born", Type: typ(record.KindDate)},
				{Name: "device", Type: nested},
			}},
			Partition: []string{
				"name", "bucket(id, 64)", "truncate(name, 4)", "year(born)", "month(made)", "hour(at)", "void(id)",
				"device.os",
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		text, number := typ(record.KindString), typ(record.KindInt)
		want := []PartitionField{
			{2, 1000, "name", "identity", 0, text}, {1, 1001, "id_bucket", "bucket", 64, number},
			{2, 1002, "name_trunc", "truncate", 4, text}, {5, 1003, "born_year", "year", 0, number},
			{4, 1004, "made_month", "month", 0, number}, {3, 1005, "at_hour", "hour", 0, number},
			{1, 1006, "id_null", "void", 0, typ(record.KindLong)}, {7, 1007, "device_os", "identity", 0, text},
		}
		if diff := cmp.Diff(want, table.Partition()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if table.FormatVersion() != 2 {
			t.Errorf("format version %d, want 2", table.FormatVersion())
		}
	})
}
