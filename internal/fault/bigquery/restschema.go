package bigquery

import (
	"fmt"
	"strconv"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// parseSchema makes columns of a schema of REST, and gives its types and modes the names that REST answers with.
func parseSchema(schema map[string]any) ([]*column, *restError) {
	return parseFields(schema["fields"], "", 1)
}

func parseFields(fields any, path string, depth int) (columns []*column, wrong *restError) {
	list, ok := fields.([]any)
	if !ok && fields != nil || depth > structDepthMax {
		return nil, badRequest("Schema: fields of %q are no list, or are nested more than %d deep", path, structDepthMax)
	}
	for _, f := range list {
		resource, ok := f.(map[string]any)
		if !ok {
			return nil, badRequest("Schema: a field of %q is no object", path)
		}
		c, wrong := parseField(resource, path, depth)
		if wrong != nil {
			return nil, wrong
		}
		if find(columns, c.name) != nil {
			return nil, badRequest("Duplicate field %s%s in schema", path, c.name)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

func parseField(resource map[string]any, path string, depth int) (*column, *restError) {
	c := &column{name: text(resource, "name"), description: text(resource, "description"),
		expression: text(resource, "defaultValueExpression"),
		lengthMax:  number(resource, "maxLength"), precision: number(resource, "precision"), scale: number(resource, "scale"),
		mode: storagepb.TableFieldSchema_NULLABLE,
	}
	if wrong := checkName(c.name); wrong != "" {
		return nil, badRequest("Invalid field name %q. %s", path+c.name, wrong)
	}
	var ok bool
	if c.kind, ok = kindNamed(text(resource, "type")); !ok {
		return nil, badRequest("Invalid value for type: %s is not a valid value (field %s%s)",
			text(resource, "type"), path, c.name)
	}
	if mode := text(resource, "mode"); mode != "" {
		n, ok := storagepb.TableFieldSchema_Mode_value[strings.ToUpper(mode)]
		if !ok || n == 0 {
			return nil, badRequest("Invalid value for mode: %s is not a valid value (field %s%s)", mode, path, c.name)
		}
		c.mode = storagepb.TableFieldSchema_Mode(n)
	}
	resource["type"], resource["mode"] = kindName(c.kind), c.mode.String()
	if c.kind == storagepb.TableFieldSchema_RANGE {
		return c, parseRange(c, resource, path)
	}
	if c.kind != storagepb.TableFieldSchema_STRUCT {
		return c, nil
	}
	var wrong *restError
	c.fields, wrong = parseFields(resource["fields"], path+c.name+".", depth+1)
	if wrong == nil && len(c.fields) == 0 {
		wrong = badRequest("Field %s%s is type RECORD but has no schema", path, c.name)
	}
	return c, wrong
}

// parseRange gives a RANGE its two fields.
func parseRange(c *column, resource map[string]any, path string) *restError {
	element, _ := resource["rangeElementType"].(map[string]any)
	var ok bool
	if c.element, ok = kindNamed(text(element, "type")); !ok {
		return badRequest("Field %s%s is type RANGE but has no rangeElementType", path, c.name)
	}
	for _, name := range []string{"start", "end"} {
		c.fields = append(c.fields, &column{name: name, kind: c.element, mode: storagepb.TableFieldSchema_NULLABLE})
	}
	return nil
}

const nameCharsMax = 300

// reservedPrefixes are those of names that no column may have.
var reservedPrefixes = []string{
	"_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER", "_CHANGE_",
}

func checkName(name string) (wrong string) {
	if name == "" || len([]rune(name)) > nameCharsMax || strings.ContainsAny(name, "!\"$()*,./;?@[\\]^`{}~\n\t") {
		return fmt.Sprintf("Fields must have 1 to %d characters, and none of a few signs.", nameCharsMax)
	}
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(strings.ToUpper(name), prefix) {
			return "The prefix " + prefix + " is reserved."
		}
	}
	return ""
}

func text(resource map[string]any, key string) string {
	v, _ := resource[key].(string)
	return v
}

// number is an int64, which REST writes as a text.
func number(resource map[string]any, key string) int64 {
	switch v := resource[key].(type) {
	case float64:
		return int64(v)
	case string:
		n, _ := strconv.ParseInt(v, 10, 64) // what is no number counts as not given
		return n
	default:
		return 0
	}
}

// primaryKey is the columns of tableConstraints.primaryKey.
func primaryKey(resource map[string]any, columns []*column) (keys []string, wrong *restError) {
	constraints, _ := resource["tableConstraints"].(map[string]any)
	primary, _ := constraints["primaryKey"].(map[string]any)
	list, _ := primary["columns"].([]any)
	for _, v := range list {
		name, _ := v.(string)
		c := find(columns, name)
		if c == nil || c.repeated() || c.kind == storagepb.TableFieldSchema_STRUCT {
			return nil, badRequest("Primary key column %q is not a column of the table that can be one", name)
		}
		keys = append(keys, c.name)
	}
	if len(keys) > keysMax {
		return nil, badRequest("A primary key has at most %d columns, this one has %d", keysMax, len(keys))
	}
	return keys, nil
}

const keysMax = 16
