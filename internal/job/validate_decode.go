package job

import (
	"encoding/json"
	"fmt"
)

func (c *checker) decode() {
	d := &c.job.Decode
	c.schema(&d.Schema)
	if len(d.Keep) > 0 && len(d.Drop) > 0 {
		c.fault("decode.drop", "is set beside keep", "keep one of the two")
	}
	// A column left out is a key of the record that the schema does not have: reject would refuse every record.
	if (len(d.Keep) > 0 || len(d.Drop) > 0) && d.UnknownFields == "reject" {
		c.fault("decode.unknown_fields", "reject would refuse the columns that keep or drop leave out", "use ignore")
	}
	c.columns("decode.keep", d.Keep)
	c.columns("decode.drop", d.Drop)
}

func (c *checker) columns(path string, names []string) {
	seen := map[string]bool{}
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c.need(at, name, "write the name of a column") {
			c.once(at, name, seen)
		}
	}
}

func (c *checker) schema(s *Schema) {
	set := 0
	for _, isSet := range []bool{s.Avro != "", s.AvroFile != "", len(s.Fields) > 0} {
		if isSet {
			set++
		}
	}
	if set > 1 {
		c.fault("decode.schema", "has more than one of avro, avro_file and fields", "keep one of them")
	}
	if s.Avro != "" {
		c.avro(s.Avro)
	}
	seen := map[string]bool{}
	for i, f := range s.Fields {
		path := fmt.Sprintf("decode.schema.fields[%d]", i)
		if c.need(path+".name", f.Name, "name the column") {
			c.once(path+".name", f.Name, seen)
		}
		if !c.need(path+".type", f.Type, "write an Iceberg type, such as long") {
			continue
		}
		if err := checkType(f.Type); err != nil {
			c.fault(path+".type", fmt.Sprintf("%q is not a type: %v", f.Type, err), typeDo)
		}
	}
}

const typeDo = "write an Iceberg type, such as long, decimal(9, 2), list<string> or struct<a: required int, b: string>"

// avro checks no more than that the text is a JSON object that says it is a record; the decoder compiles it.
func (c *checker) avro(text string) {
	var record struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		c.fault("decode.schema.avro", "is not JSON: "+err.Error(), "write the schema as JSON text, after avro: |")
		return
	}
	if record.Type != "record" {
		c.fault("decode.schema.avro", "is not a record schema", `use a schema with "type": "record"`)
	}
}
