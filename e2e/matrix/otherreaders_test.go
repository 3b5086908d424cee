package matrix

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"firn/internal/parquet"
	"firn/internal/record"
)

// The environment variables that say where readers are; components/services.sh sets them.
const (
	envPython      = "FIRN_PYTHON"       // a python3 with pyarrow and duckdb
	envParquetJava = "FIRN_PARQUET_JAVA" // the class path of parquet-java and components/ParquetFiles.java
	envSpark       = "FIRN_PYTHON_SPARK" // a python3 with Apache Spark
)

// otherReaders read a folder of files in a process of their own.
var otherReaders = []struct {
	name    string
	env     string
	command func(value, folder string) []string
}{
	{"pyarrow", envPython, func(v, folder string) []string { return []string{v, "read_arrow.py", "pyarrow", folder} }},
	{"duckdb", envPython, func(v, folder string) []string { return []string{v, "read_arrow.py", "duckdb", folder} }},
	{"parquet-java", envParquetJava, func(v, folder string) []string {
		return []string{java(), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", v, "firn.components.ParquetFiles", folder}
	}},
	{"spark", envSpark, func(v, folder string) []string { return []string{v, "read_spark.py", folder} }},
}

func java() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

// manifest is matrix.json: what a reader's process is to read.
type manifest struct {
	Datasets map[string][]typeTree `json:"datasets"` // the columns of each
	Files    []fileEntry           `json:"files"`
	Filters  []filter              `json:"filters"`

	of map[string]*dataset // by file
}

type fileEntry struct {
	Name    string `json:"name"`
	Dataset string `json:"dataset"`
	Bloom   bool   `json:"bloom"` // every column that can has a bloom filter
	Auto    bool   `json:"auto"`  // columns may have other encodings than PLAIN and dictionaries
}

// typeTree is a field as the readers that are not in Go see it.
type typeTree struct {
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`
	Precision int        `json:"precision"`
	Scale     int        `json:"scale"`
	Fields    []typeTree `json:"fields"`
}

func treeOf(f *record.Field) typeTree {
	out := typeTree{Name: f.Name, Kind: f.Type.Kind.String(), Precision: f.Type.Precision, Scale: f.Type.Scale}
	for i := range f.Type.Fields {
		out.Fields = append(out.Fields, treeOf(&f.Type.Fields[i]))
	}
	return out
}

// add writes a file into the folder, and gives its bytes.
func (m *manifest) add(t *testing.T, folder string, d *dataset, c *cell) []byte {
	t.Helper()
	name := d.name + "." + c.name
	if m.Datasets[d.name] == nil {
		for i := range d.schema.Fields {
			m.Datasets[d.name] = append(m.Datasets[d.name], treeOf(&d.schema.Fields[i]))
		}
	}
	m.Files = append(m.Files, fileEntry{name, d.name, c.bloom, c.options.Encodings == parquet.EncodingsAuto})
	m.of[name] = d
	data := c.write(t, d)
	if err := os.WriteFile(filepath.Join(folder, name+".parquet"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOtherReaders has each reader that is not in Go read files in one process: the flat and the nested dataset in
// enough cells that each two options meet, and filters.
func TestOtherReaders(t *testing.T) {
	folder := t.TempDir()
	m := &manifest{Datasets: map[string][]typeTree{}, of: map[string]*dataset{}}
	for d, cells := range map[*dataset][]cell{flat(): pairs(cells()), nested(): cellsOfEachCodec()} {
		for _, c := range cells {
			m.add(t, folder, d, &c)
		}
	}
	m.addFilters(t, folder)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "matrix.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, reader := range otherReaders {
		t.Run(reader.name, func(t *testing.T) {
			t.Parallel()
			value := os.Getenv(reader.env)
			if value == "" {
				t.Skipf("skipped: %s (%s is not set; make e2e sets it where it can)", reader.name, reader.env)
			}
			args := reader.command(value, folder)
			if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			m.check(t, reader.name, filepath.Join(folder, reader.name))
		})
	}
}

// check compares what a reader printed.
func (m *manifest) check(t *testing.T, reader, folder string) {
	t.Helper()
	for _, file := range m.Files {
		fault, err := os.ReadFile(filepath.Join(folder, file.Name+".fault"))
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %s: %.3000s %v", reader, file.Name, fault, err)
		}
		text, err := os.ReadFile(filepath.Join(folder, file.Name+".jsonl"))
		if err != nil {
			t.Error(err)
			continue
		}
		lines := bytes.Split(text, []byte("\n"))
		m.of[file.Name].compare(t, reader, file.Name, lines[:len(lines)-1])
	}
	if reader == "spark" {
		return // its filters are those of parquet-java
	}
	text, err := os.ReadFile(filepath.Join(folder, "filters.json"))
	if err != nil {
		t.Fatal(err)
	}
	var counted []counts
	if err := json.Unmarshal(text, &counted); err != nil {
		t.Fatal(err)
	}
	m.checkFilters(t, reader, counted)
}
