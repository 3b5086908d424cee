package table

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
)

// PartitionField is one field of a table's partition spec.
type PartitionField struct {
	SourceID  int    // id of the record field that it is made from
	FieldID   int    // partition field id, 1000 and up
	Name      string // as in partition folders
	Transform string // identity, bucket, truncate, year, month, day, hour or void
	Param     int    // bucket: number of buckets; truncate: width; else 0
	Result    record.Type
}

// PartitionSource is what the text of a partition field says.
type PartitionSource struct {
	Field     string // dotted path of the source field
	Transform string // see PartitionField
	Param     int
}

// partitionCall matches transform(field) and transform(field, number). A field path may hold anything but brackets
// and commas.
var partitionCall = regexp.MustCompile(`^\s*([A-Za-z]+)\s*\(\s*([^(),]+?)\s*(?:,\s*(-?[0-9]+)\s*)?\)\s*$`)

// partitionPlain matches a field alone.
var partitionPlain = regexp.MustCompile(`^\s*[^(),\s](?:[^(),]*[^(),\s])?\s*$`)

// ParsePartitionField reads one partition field, in the spelling that Beam's IcebergIO shares: f, identity(f),
// bucket(f, N), truncate(f, W), year(f), month(f), day(f), hour(f) or void(f), where f is a column or a dotted path
// into structs. It checks the transform and its number; the source column is checked when a table is made.
func ParsePartitionField(text string) (PartitionSource, error) {
	m := partitionCall.FindStringSubmatch(text)
	if m == nil {
		if !partitionPlain.MatchString(text) {
			return PartitionSource{}, badPartition(text, "it is no field name and no transform(field)")
		}
		return PartitionSource{Field: strings.TrimSpace(text), Transform: "identity"}, nil
	}
	p := PartitionSource{Field: m[2], Transform: m[1]}
	switch p.Transform {
	case "bucket", "truncate":
		n, err := strconv.Atoi(m[3])
		if err != nil || n < 1 || n > math.MaxInt32 {
			return PartitionSource{}, badPartition(text, p.Transform+" needs a whole number above 0 after the field")
		}
		p.Param = n
	case "identity", "year", "month", "day", "hour", "void":
		if m[3] != "" {
			return PartitionSource{}, badPartition(text, p.Transform+" takes no number")
		}
	default:
		return PartitionSource{}, badPartition(text, p.Transform+" is not a transform")
	}
	return p, nil
}

// String is the text that ParsePartitionField reads.
func (p PartitionSource) String() string {
	switch {
	case p.Transform == "identity":
		return p.Field
	case p.Param > 0:
		return fmt.Sprintf("%s(%s, %d)", p.Transform, p.Field, p.Param)
	default:
		return fmt.Sprintf("%s(%s)", p.Transform, p.Field)
	}
}

func badPartition(text, why string) error {
	return fmt.Errorf("partition field %q: %s: write f, identity(f), bucket(f, N), truncate(f, W), year(f), month(f), "+
		"day(f), hour(f) or void(f)", text, why)
}

// name is the partition field's name, as Iceberg's own spec builder chooses it, but with an underscore for what a
// manifest cannot have in a name, such as the dot of a nested field: Java writes manifests under an escaped name, and
// the library beneath firn cannot write them.
func (p PartitionSource) name() string {
	name := avroName(p.Field)
	switch p.Transform {
	case "identity":
		return name
	case "truncate":
		return name + "_trunc"
	case "void":
		return name + "_null"
	default:
		return name + "_" + p.Transform
	}
}

// avroName makes a name of letters, digits and _ that does not begin with a digit (Avro specification, "Names").
func avroName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, text)
	if name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// Writable tells whether manifests can be written for the field, by its name. Other writers allow names that the
// library beneath firn does not.
func (f PartitionField) Writable() bool { return f.Name != "" && avroName(f.Name) == f.Name }

func (p PartitionSource) transform() iceberg.Transform {
	switch p.Transform {
	case "bucket":
		return iceberg.BucketTransform{NumBuckets: p.Param}
	case "truncate":
		return iceberg.TruncateTransform{Width: p.Param}
	case "year":
		return iceberg.YearTransform{}
	case "month":
		return iceberg.MonthTransform{}
	case "day":
		return iceberg.DayTransform{}
	case "hour":
		return iceberg.HourTransform{}
	case "void":
		return iceberg.VoidTransform{}
	default:
		return iceberg.IdentityTransform{}
	}
}

// partitionSpec builds the spec of a new table. The schema's field ids are those of s.
func partitionSpec(texts []string, s *record.Schema, is *iceberg.Schema) (*iceberg.PartitionSpec, error) {
	options := make([]iceberg.PartitionOption, 0, len(texts))
	for _, text := range texts {
		p, err := ParsePartitionField(text)
		if err != nil {
			return nil, err
		}
		f, ok := s.Find(p.Field)
		if !ok {
			return nil, fmt.Errorf("partition field %q: the schema has no column %q (columns inside lists and maps "+
				"cannot partition a table)", text, p.Field)
		}
		source, err := icebergType(p.Field, f.Type)
		if err != nil {
			return nil, err
		}
		if t := p.transform(); !t.CanTransform(source) || !isPrimitive(source) {
			return nil, fmt.Errorf("partition field %q: %s cannot be applied to %s, which is %s",
				text, p.Transform, p.Field, f.Type)
		}
		options = append(options, iceberg.AddPartitionFieldBySourceID(f.ID, p.name(), p.transform(), is, nil))
	}
	spec, err := iceberg.NewPartitionSpecOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("building the partition spec of %v: %w", texts, err)
	}
	return &spec, nil
}

// isPrimitive is asked because the void transform claims to take any type, which the spec does not allow.
func isPrimitive(t iceberg.Type) bool {
	_, ok := t.(iceberg.PrimitiveType)
	return ok
}

// partitionFields turns a table's spec into firn's. A transform that firn does not know is an error.
func partitionFields(spec iceberg.PartitionSpec, s *iceberg.Schema) ([]PartitionField, error) {
	fields := make([]PartitionField, 0, spec.NumFields())
	for _, f := range spec.Fields() {
		name, param, err := transformName(f)
		if err != nil {
			return nil, err
		}
		result, err := partitionResult(f, s)
		if err != nil {
			return nil, err
		}
		fields = append(fields, PartitionField{
			SourceID: f.SourceID(), FieldID: f.FieldID, Name: f.Name, Transform: name, Param: param, Result: result,
		})
	}
	return fields, nil
}

func transformName(f iceberg.PartitionField) (string, int, error) {
	if len(f.SourceIDs) > 1 {
		return "", 0, fmt.Errorf("partition field %s: transforms of several columns are not supported", f.Name)
	}
	switch t := f.Transform.(type) {
	case iceberg.BucketTransform:
		return "bucket", t.NumBuckets, nil
	case iceberg.TruncateTransform:
		return "truncate", t.Width, nil
	case iceberg.IdentityTransform, iceberg.YearTransform, iceberg.MonthTransform, iceberg.DayTransform,
		iceberg.HourTransform, iceberg.VoidTransform:
		return f.Transform.String(), 0, nil
	default:
		return "", 0, fmt.Errorf("partition field %s: transform %s is not supported", f.Name, f.Transform)
	}
}

// partitionResult is the type of the partition value. A void field may have lost its column; its value is always
// null, so any type will do.
func partitionResult(f iceberg.PartitionField, s *iceberg.Schema) (record.Type, error) {
	source, ok := s.FindFieldByID(f.SourceID())
	if !ok {
		if _, void := f.Transform.(iceberg.VoidTransform); void {
			return record.Type{Kind: record.KindInt}, nil
		}
		return record.Type{}, fmt.Errorf("partition field %s: the schema has no field of id %d", f.Name, f.SourceID())
	}
	return recordType(f.Name, f.Transform.ResultType(source.Type))
}
