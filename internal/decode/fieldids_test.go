package decode

import (
	"fmt"
	"strings"
	"testing"

	"firn/internal/record"

	"github.com/google/go-cmp/cmp"
)

// showIDs is the fields as name:id, with ! after a required one.
func showIDs(fields []record.Field) string {
	s := make([]string, len(fields))
	for i, f := range fields {
		s[i] = fmt.Sprintf("%s:%d", f.Name, f.ID)
		if f.Required {
			s[i] += "!"
		}
		if len(f.Type.Fields) > 0 {
			s[i] += "<" + showIDs(f.Type.Fields) + ">"
		}
	}
	return strings.Join(s, " ")
}

func TestAssignIDsInIcebergsOrder(t *testing.T) {
	fields := []record.Field{
		structOf("a", structOf("x", of("z", record.KindInt)), of("y", record.KindInt)),
		listOf("b", structOf("", of("v", record.KindInt))),
		mapOf("c", structOf("", of("k", record.KindInt)), structOf("", of("w", record.KindInt))),
		required(of("d", record.KindInt)),
	}
	fields[2].Type.Fields[0].Required = false // a key is required all the same
	want := "a:1<x:5<z:7> y:6> b:2<element:8<v:9>> c:3<key:10!<k:12> value:11<w:13>> d:4!"
	if diff := cmp.Diff(want, showIDs(AssignIDs(fields).Fields)); diff != "" {
		t.Error(diff)
	}
	if fields[0].ID != 0 || fields[0].Type.Fields[0].ID != 0 || fields[2].Type.Fields[0].Required {
		t.Error("the caller's fields changed")
	}
}
