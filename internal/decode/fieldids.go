package decode

import "firn/internal/record"

// typeDepthMax bounds the nesting of a type that a user writes. Readers of tables nest a handful of levels; the bound
// keeps a text of brackets from growing the stack.
const typeDepthMax = 100

// AssignIDs makes a schema of copies of the fields, with the ids that Iceberg gives to a new table: each struct's
// fields in a row from the next free id, 1 at first, then the inside of each of them in the same way (AssignFreshIds
// of the Java implementation). List elements are named element, map entries key and value, and keys are required, as
// the Iceberg specification has it.
func AssignIDs(fields []record.Field) *record.Schema {
	next := 1
	return &record.Schema{Fields: assignIDs(fields, &next)}
}

func assignIDs(fields []record.Field, next *int) []record.Field {
	numbered := make([]record.Field, len(fields))
	for i, f := range fields {
		f.ID = *next
		*next++
		numbered[i] = f
	}
	for i := range numbered {
		t := &numbered[i].Type
		if len(t.Fields) > 0 {
			t.Fields = assignIDs(t.Fields, next)
			nameInner(t)
		}
	}
	return numbered
}

func nameInner(t *record.Type) {
	switch {
	case t.Kind == record.KindList:
		t.Fields[0].Name = "element"
	case t.Kind == record.KindMap && len(t.Fields) == 2:
		t.Fields[0].Name, t.Fields[1].Name = "key", "value"
		t.Fields[0].Required = true
	}
}
