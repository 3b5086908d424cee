package bigquery

import (
	"fmt"
	"regexp"
	"strings"
)

// TableName names a table.
type TableName struct{ Project, Dataset, Table string }

// tableName is what BigQuery's documents allow: projects may have a domain before a colon.
var tableName = regexp.MustCompile(`^(?:((?:[a-z0-9.-]+:)?[a-z0-9-]+)[.:])?(\w+)\.([\pL\pM\pN_\- ]+)$`)

// ParseTableName reads project.dataset.table, project:dataset.table, or dataset.table in the project given.
func ParseTableName(s, project string) (TableName, error) {
	m := tableName.FindStringSubmatch(s)
	if m == nil {
		return TableName{}, fmt.Errorf("%q names no BigQuery table: write project.dataset.table", s)
	}
	if m[1] == "" {
		m[1] = project
	}
	if m[1] == "" {
		return TableName{}, fmt.Errorf("table %q is in no project: write project.dataset.table, or set a project", s)
	}
	return TableName{Project: m[1], Dataset: m[2], Table: m[3]}, nil
}

// String is the name as SQL has it, without quotes.
func (n TableName) String() string { return n.Project + "." + n.Dataset + "." + n.Table }

// Path is the name as the Storage Write API has it.
func (n TableName) Path() string {
	return "projects/" + n.Project + "/datasets/" + n.Dataset + "/tables/" + n.Table
}

// DefaultStream is the name of the stream that every table has, which takes no offsets.
func (n TableName) DefaultStream() string { return n.Path() + defaultStream }

const defaultStream = "/streams/_default"

// isDefault tells whether a stream is some table's default one.
func isDefault(stream string) bool { return strings.HasSuffix(stream, defaultStream) }
