package parquet

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"firn/internal/record"
)

// TestOtherReaders lets PyArrow and DuckDB read the matrix of types and nestings, with every codec, both versions of
// pages and every encoding, and DuckDB look into the bloom filters. C64
func TestOtherReaders(t *testing.T) {
	python := os.Getenv("FIRN_PYTHON")
	if python == "" {
		t.Skip("FIRN_PYTHON does not name a python3 with pyarrow and duckdb")
	}
	dir := t.TempDir()
	codecs := []Codec{CodecNone, CodecSnappy, CodecGzip, CodecZstd, CodecLZ4Raw}
	for i, c := range matrix() {
		o := Options{Codec: codecs[i%len(codecs)], PageBytesMax: 1 << 10, RowGroupBytesMax: 1 << 13}
		o.DictionaryBytesMax = i % 2 * 256
		rows := c.rows
		if i%3 > 0 {
			rows = repeat(rows, 300)
		}
		o.PageVersion, o.PageChecksums = 1+i/2%2, i%3 == 0
		data, _ := writeFile(t, c.schema, rows, o, 11)
		writeCase(t, filepath.Join(dir, fmt.Sprintf("%03d", i)), c.schema, rows, data)
		for name, e := range otherEncodingsOf(t, c.schema) {
			o.Encodings, o.DictionaryBytesMax, o.PageVersion = EncodingsAuto, 0, 3-o.PageVersion
			f := newFile(t, c.schema, o)
			forceEncoding(f, e)
			data, _ := fillFile(t, f, c.schema, rows, 11)
			writeCase(t, filepath.Join(dir, fmt.Sprintf("%03d %s", i, name)), c.schema, rows, data)
		}
	}
	writeBloomCase(t, dir)
	out, err := exec.Command(python, "testdata/read.py", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// typeTree is what read.py knows of a type.
type typeTree struct {
	Kind   string     `json:"kind"`
	Scale  int        `json:"scale"`
	Fields []typeTree `json:"fields"`
}

func treeOf(t record.Type) typeTree {
	out := typeTree{Kind: t.Kind.String(), Scale: t.Scale}
	for _, f := range t.Fields {
		out.Fields = append(out.Fields, treeOf(f.Type))
	}
	return out
}

func writeCase(t *testing.T, path string, s *record.Schema, rows [][]any, data []byte) {
	t.Helper()
	var types []typeTree
	logical := map[string]string{}
	for i := range s.Fields {
		types = append(types, treeOf(s.Fields[i].Type))
		logicalTypes(logical, s.Fields[i].Name, s.Fields[i].Type)
	}
	texts := make([][]any, len(rows))
	for i, row := range rows {
		for j, v := range row {
			texts[i] = append(texts[i], canonical(&s.Fields[j].Type, v))
		}
	}
	b, err := json.Marshal(map[string]any{"rows": texts, "types": types, "logical": logical})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{path + ".json": b, path + ".parquet": data} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// writeBloomCase writes two row groups, of odd and of even numbers, as numbers and as texts.
func writeBloomCase(t *testing.T, dir string) {
	t.Helper()
	s := &record.Schema{Fields: []record.Field{
		{ID: 1, Name: "number", Type: record.Type{Kind: record.KindLong}},
		{ID: 2, Name: "text", Type: record.Type{Kind: record.KindString}},
	}}
	var rows [][]any
	for i := range int64(4000) {
		n := 2*i + i/2000
		rows = append(rows, []any{n, fmt.Appendf(nil, "number %d", n)})
	}
	o := Options{Blooms: map[int]Bloom{1: {FalseShare: 1e-6}, 2: {FalseShare: 1e-6}}, RowGroupBytesMax: 1}
	data, _ := writeFile(t, s, rows, o, 2000)
	writeCase(t, filepath.Join(dir, "bloom"), s, rows, data)
}

// logicalTypes are the annotations by Arrow C++'s names, as the specification's mapping wants them.
func logicalTypes(out map[string]string, path string, t record.Type) {
	const stamp = "Timestamp(isAdjustedToUTC=%v, timeUnit=%s, is_from_converted_type=false, " +
		"force_set_converted_type=false)"
	switch t.Kind {
	case record.KindStruct:
		for _, f := range t.Fields {
			logicalTypes(out, path+"."+f.Name, f.Type)
		}
	case record.KindList:
		logicalTypes(out, path+".list.element", t.Fields[0].Type)
	case record.KindMap:
		logicalTypes(out, path+".key_value.key", t.Fields[0].Type)
		logicalTypes(out, path+".key_value.value", t.Fields[1].Type)
	case record.KindString:
		out[path] = "String"
	case record.KindUUID:
		out[path] = "UUID"
	case record.KindDate:
		out[path] = "Date"
	case record.KindTime:
		out[path] = "Time(isAdjustedToUTC=false, timeUnit=microseconds)"
	case record.KindDecimal:
		out[path] = fmt.Sprintf("Decimal(precision=%d, scale=%d)", t.Precision, t.Scale)
	case record.KindTimestamp:
		out[path] = fmt.Sprintf(stamp, false, "microseconds")
	case record.KindTimestampTZ:
		out[path] = fmt.Sprintf(stamp, true, "microseconds")
	case record.KindTimestampNs:
		out[path] = fmt.Sprintf(stamp, false, "nanoseconds")
	case record.KindTimestampTZNs:
		out[path] = fmt.Sprintf(stamp, true, "nanoseconds")
	default:
		out[path] = "None"
	}
}

// canonical is the text form that read.py compares.
func canonical(t *record.Type, v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return strconv.FormatBool(v)
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case float32:
		return canonicalFloat(float64(v))
	case float64:
		return canonicalFloat(v)
	case []byte:
		return canonicalBytes(t, v)
	}
	elements := []any{}
	for i, e := range v.([]any) {
		if pair, ok := e.([2]any); ok {
			elements = append(elements, []any{canonical(&t.Fields[0].Type, pair[0]), canonical(&t.Fields[1].Type, pair[1])})
		} else {
			elements = append(elements, canonical(&t.Fields[min(i, len(t.Fields)-1)].Type, e))
		}
	}
	return elements
}

func canonicalFloat(v float64) string {
	if v != v {
		return "nan"
	}
	return fmt.Sprintf("%016x", math.Float64bits(v))
}

func canonicalBytes(t *record.Type, v []byte) string {
	switch t.Kind {
	case record.KindString:
		return string(v)
	case record.KindDecimal:
		x := new(big.Int).SetBytes(v)
		if v[0]&0x80 != 0 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		return x.String()
	default:
		return hex.EncodeToString(v)
	}
}
