package wire

import (
	"errors"
	"fmt"

	"firn/internal/record"
)

// fit finds the columns of a table for a declared schema, by name. It returns the table's own fields, in the table's
// order, without the columns that the declaration leaves out: those stay null. All that does not fit is in the error.
func fit(declared, table *record.Schema) (*record.Schema, error) {
	fields, err := fitFields("", declared.Fields, table.Fields)
	if err != nil {
		return nil, err
	}
	return &record.Schema{ID: table.ID, Fields: fields}, nil
}

func fitFields(path string, declared, table []record.Field) ([]record.Field, error) {
	byName := make(map[string]*record.Field, len(declared))
	for i := range declared {
		byName[declared[i].Name] = &declared[i]
	}
	var out []record.Field
	var errs []error
	for _, column := range table {
		d := byName[column.Name]
		delete(byName, column.Name)
		switch {
		case d != nil:
			column, err := fitField(path+column.Name, *d, column)
			errs = append(errs, err)
			out = append(out, column)
		case column.Required:
			errs = append(errs, fmt.Errorf("the table's column %s is required and the schema does not have it",
				path+column.Name))
		}
	}
	for i := range declared {
		if byName[declared[i].Name] != nil {
			errs = append(errs, fmt.Errorf("the schema's field %s (%s) is not in the table",
				path+declared[i].Name, declared[i].Type))
		}
	}
	return out, errors.Join(errs...)
}

// fitField is the table's column, with its nested fields fitted. A declared type must be the column's: firn decodes
// straight into the column, so that there is nothing to convert.
func fitField(path string, declared, column record.Field) (record.Field, error) {
	d, c := declared.Type, column.Type
	if d.Kind != c.Kind || d.Precision != c.Precision || d.Scale != c.Scale || d.Length != c.Length {
		return column, fmt.Errorf("the schema says %s for %s and the table has %s", d, path, c)
	}
	column.Type.Millis = d.Millis // how messages are read; the table does not know
	if len(c.Fields) == 0 {
		return column, nil
	}
	fields, err := fitFields(path+".", d.Fields, c.Fields)
	column.Type.Fields = fields
	return column, err
}
