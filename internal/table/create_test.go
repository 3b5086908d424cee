package table

import (
	"errors"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
)

func TestCreate(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		c := o.again(t)
		if _, err := c.Load(t.Context(), o.ident); !errors.Is(err, ErrNoTable) {
			t.Errorf("error %v before the table exists, want %v", err, ErrNoTable)
		}
		config := CreateConfig{
			Schema: eventSchema(), Partition: []string{"day(at)"}, Properties: map[string]string{"owner": "me"},
		}
		made, err := c.Create(t.Context(), o.ident, config)
		if err != nil {
			t.Fatal(err)
		}
		want := eventSchema()
		for i := range want.Fields {
			want.Fields[i].ID = i + 1
		}
		if diff := cmp.Diff(want, made.Schema()); diff != "" {
			t.Errorf("schema (-want +got):\n%s", diff)
		}
		if got := made.Property("owner"); got != "me" {
			t.Errorf("property owner is %q", got)
		}
		again, err := o.again(t).Create(t.Context(), o.ident, CreateConfig{Schema: allTypes()})
		if err != nil {
			t.Fatal(err)
		}
		if again.UUID() != made.UUID() {
			t.Error("making it again made another table")
		}
	})
}

// Several replicas start at once and all find the table missing.
func TestCreateRace(t *testing.T) {
	everyCatalog(t, func(t *testing.T, o opened) {
		const replicas = 4
		uuids := make([]string, replicas)
		var group errgroup.Group
		for i := range replicas {
			c := o.again(t)
			group.Go(func() error {
				table, err := c.Create(t.Context(), o.ident, CreateConfig{Schema: eventSchema()})
				if err == nil {
					uuids[i] = table.UUID()
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, u := range uuids {
			if u != uuids[0] {
				t.Errorf("tables %v, want one", uuids)
			}
		}
	})
}

func TestCreateNestedNamespace(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	table := createTable(t, c, "a.b.events")
	if !strings.HasPrefix(table.Location(), "file:///") || !strings.HasSuffix(table.Location(), "/warehouse/a/b/events") {
		t.Errorf("location %s", table.Location())
	}
	if _, err := c.Load(t.Context(), "a.b.events"); err != nil {
		t.Error(err)
	}
}

// C79: nanosecond timestamps exist from version 3 on only.
func TestCreateFormatVersion(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	nanos := &record.Schema{Fields: []record.Field{{Name: "at", Type: typ(record.KindTimestampNs)}}}
	_, err := c.Create(t.Context(), "db.v2", CreateConfig{Schema: nanos})
	if err == nil || !strings.Contains(err.Error(), "format-version") {
		t.Errorf("error %v, want one that names format-version", err)
	}
	table, err := c.Create(t.Context(), "db.v3", CreateConfig{
		Schema: allTypes(), Properties: map[string]string{"format-version": "3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if table.FormatVersion() != 3 {
		t.Errorf("format version %d, want 3", table.FormatVersion())
	}
	if diff := cmp.Diff(allTypes(), table.Schema(), cmpopts.IgnoreFields(record.Field{}, "ID")); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	for _, v := range []string{"1", "4", "two"} {
		_, err := c.Create(t.Context(), "db.bad", CreateConfig{
			Schema: eventSchema(), Properties: map[string]string{"format-version": v},
		})
		if err == nil {
			t.Errorf("format version %s was taken", v)
		}
	}
}

func TestCreateFaults(t *testing.T) {
	c := openCatalog(t, sqlConfig(t))
	for name, f := range map[string]struct {
		ident  string
		config CreateConfig
		want   string
	}{
		"no namespace": {"events", CreateConfig{Schema: eventSchema()}, "namespace.table"},
		"empty part":   {"db..events", CreateConfig{Schema: eventSchema()}, "namespace.table"},
		"slash":        {"db.a/b", CreateConfig{Schema: eventSchema()}, "namespace.table"},
		"no schema":    {"db.events", CreateConfig{}, "no schema"},
		"partition":    {"db.events", CreateConfig{Schema: eventSchema(), Partition: []string{"x"}}, "no column"},
		"space":        {"db.my events", CreateConfig{Schema: eventSchema()}, "my%20events"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Create(t.Context(), f.ident, f.config); err == nil || !strings.Contains(err.Error(), f.want) {
				t.Errorf("error %v, want %q", err, f.want)
			}
		})
	}
}
