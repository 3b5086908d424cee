package job

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// PartitionField is one item of IcebergSink.Partition: a column and the transform of it (Iceberg spec, "Partition
// Transforms").
type PartitionField struct {
	Column    string
	Transform string // identity, bucket, truncate, year, month, day, hour or void
	Argument  int    // bucket: number of buckets; truncate: width; else 0
}

var partitionPattern = regexp.MustCompile(`^\s*([a-z]+)\s*\(\s*([^(),]*?)\s*(?:,\s*([^(),]*?)\s*)?\)\s*$`)

// ParsePartitionField reads f, identity(f), bucket(f, N), truncate(f, W), year(f), month(f), day(f), hour(f), void(f).
// Whether the table has the column, and of a type that the transform takes, is not checked here.
func ParsePartitionField(text string) (PartitionField, error) {
	if !strings.ContainsAny(text, "(),") {
		column := strings.TrimSpace(text)
		if column == "" {
			return PartitionField{}, errors.New("a column is missing")
		}
		return PartitionField{Column: column, Transform: "identity"}, nil
	}
	parts := partitionPattern.FindStringSubmatch(text)
	if parts == nil {
		return PartitionField{}, errors.New("it is not TRANSFORM(COLUMN) or TRANSFORM(COLUMN, NUMBER)")
	}
	f := PartitionField{Transform: parts[1], Column: parts[2]}
	if f.Column == "" {
		return PartitionField{}, errors.New("a column is missing")
	}
	return f.withArgument(parts[3])
}

func (f PartitionField) withArgument(argument string) (PartitionField, error) {
	switch f.Transform {
	case "identity", "year", "month", "day", "hour", "void":
		if argument != "" {
			return PartitionField{}, fmt.Errorf("%s takes no number", f.Transform)
		}
		return f, nil
	case "bucket", "truncate":
		n, err := strconv.ParseInt(argument, 10, 32)
		if err != nil || n < 1 {
			return PartitionField{}, fmt.Errorf("%s needs a number of 1 or more", f.Transform)
		}
		f.Argument = int(n)
		return f, nil
	default:
		return PartitionField{}, fmt.Errorf("unknown transform %q", f.Transform)
	}
}
