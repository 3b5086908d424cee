package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The readers that are not firn. Python environments with them are made by components/python.sh.
const (
	PyIceberg = "pyiceberg"
	DuckDB    = "duckdb"
	Spark     = "spark" // only where FIRN_PYTHON_SPARK is set: make e2e sets it
)

// Readers are all of them, for tests that hold one against the other.
var Readers = []string{PyIceberg, DuckDB, Spark}

// Query says which table is read and what is computed over its rows. Either Metadata is set, or Catalog and Table.
type Query struct {
	Metadata string // location of a metadata.json: a path, a file://, s3:// or gs:// URL

	Catalog     string // sqlite:///PATH or the URL of a REST catalog
	CatalogName string // for sqlite the name that the table was made under; default firn
	Table       string // namespace.table

	Column   string   // sum, ends and nulls are of this column
	Distinct []string // distinct tuples of these columns are counted; default Column
	Where    string   // Filtered counts the rows that this selects; SQL that all readers know, such as "id >= 10"

	S3  *S3Config  // where the table lies on S3
	GCS *GCSConfig // where it lies in an emulator of GCS, which Spark is not set up for
}

// Result is what a reader saw. Values are text in one form for all readers: integers and decimals in digits,
// timestamps in ISO 8601 with six decimals and Z where the column has a zone, bytes in hexadecimal.
type Result struct {
	Metadata string   `json:"metadata"` // location of the metadata.json that was read
	Columns  []string `json:"columns"`
	Rows     int64    `json:"rows"`

	Sum   *string `json:"sum"` // nil where the column is not a number
	Min   *string `json:"min"` // nil where there are no values
	Max   *string `json:"max"`
	Nulls int64   `json:"nulls"`

	Distinct int64 `json:"distinct"`
	Filtered int64 `json:"filtered"`

	// Data files that the reader would open, without and with Where: how well it prunes. PyIceberg only, else 0.
	Files         int64 `json:"files"`
	FilesFiltered int64 `json:"files_filtered"`
}

// Read reads a table with a reader. It skips the test where the reader is not installed, and fails it where the
// reader cannot read the table. A query by catalog is resolved with PyIceberg first for the other readers.
func Read(t testing.TB, reader string, q Query) Result {
	t.Helper()
	python := interpreter(t, reader)
	if reader == Spark && q.GCS != nil {
		t.Skip("skipped: Spark has no client of GCS here")
	}
	if q.Catalog != "" && reader != PyIceberg {
		located := Read(t, PyIceberg, Query{
			Catalog: q.Catalog, CatalogName: q.CatalogName, Table: q.Table, S3: q.S3, GCS: q.GCS,
		})
		q.Catalog, q.CatalogName, q.Table, q.Metadata = "", "", "", located.Metadata
	}
	result, err := run(t, python, reader, q)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// interpreter gives the python that has the reader.
func interpreter(t testing.TB, reader string) string {
	t.Helper()
	switch reader {
	case PyIceberg, DuckDB:
		return require(t, "FIRN_PYTHON", "a Python with "+reader)
	case Spark:
		return require(t, "FIRN_PYTHON_SPARK", "a Python with Apache Spark")
	default:
		t.Fatalf("no reader %q, only %s", reader, strings.Join(Readers, ", "))
		return ""
	}
}

func run(t testing.TB, python, reader string, q Query) (Result, error) {
	root, err := moduleRoot()
	if err != nil {
		return Result{}, err
	}
	script := filepath.Join(root, "e2e", "readers", "readers.py")
	cmd := exec.CommandContext(t.Context(), python, append([]string{script, "--reader", reader}, q.arguments()...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	if q.S3 != nil {
		cmd.Env = append(cmd.Env, q.S3.Environ()...)
	}
	if q.GCS != nil {
		cmd.Env = append(cmd.Env, q.GCS.Environ()...)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return Result{}, fmt.Errorf("reading with %s: %w\n%s", reader, err, tail(stderr.String(), 40))
	}
	var result Result
	if err := json.Unmarshal(out, &result); err != nil {
		return Result{}, fmt.Errorf("reading what %s printed: %w\n%s", reader, err, out)
	}
	return result, nil
}

// arguments gives the command line of readers.py.
func (q Query) arguments() []string {
	var args []string
	add := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	add("metadata", q.Metadata)
	add("catalog", q.Catalog)
	add("catalog-name", q.CatalogName)
	add("table", q.Table)
	add("column", q.Column)
	add("distinct", strings.Join(q.Distinct, ","))
	add("where", q.Where)
	return args
}

// tail gives the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
