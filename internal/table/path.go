package table

import (
	"fmt"
	"net/url"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go"
	icebergtable "github.com/apache/iceberg-go/table"
)

// DataPath is where a data file of the given name belongs: below write.data.path or the table's data folder, in one
// folder name=value for each field of the current partition spec, spelled as Iceberg for Java spells it. With
// write.object-storage.enabled hashed folders come first, to spread the keys. The partition has the order of
// Partition.
func (t *Table) DataPath(partition []record.PartitionValue, file string) (string, error) {
	folders, err := t.partitionFolders(partition)
	if err != nil {
		return "", err
	}
	locations, err := t.inner.LocationProvider()
	if err != nil {
		return "", fmt.Errorf("choosing the place of a data file of table %s: %w", t.ident, err)
	}
	properties := t.inner.Properties()
	if !properties.GetBool(icebergtable.ObjectStoreEnabledKey, icebergtable.ObjectStoreEnabledDefault) {
		return locations.NewDataLocation(folders + file), nil
	}
	hashed := locations.NewDataLocation(file)
	if !properties.GetBool(icebergtable.WriteObjectStorePartitionedPathsKey,
		icebergtable.WriteObjectStorePartitionedPathsDefault) {
		return hashed, nil
	}
	return strings.TrimSuffix(hashed, file) + folders + file, nil
}

// partitionFolders is "name=value/" for each field.
func (t *Table) partitionFolders(partition []record.PartitionValue) (string, error) {
	spec := t.inner.Spec()
	if len(partition) != spec.NumFields() {
		return "", fmt.Errorf("table %s has %d partition fields, not %d", t.ident, spec.NumFields(), len(partition))
	}
	var path strings.Builder
	i := 0
	for _, f := range spec.Fields() {
		value, typ, err := partitionValue(partition[i])
		if err != nil {
			return "", fmt.Errorf("partition field %s: %w", f.Name, err)
		}
		path.WriteString(f.EscapedName() + "=" + url.QueryEscape(f.Transform.ToHumanStrType(typ, value)) + "/")
		i++
	}
	if local(t.Location()) {
		// The folder is only for people to read, and % in a file URL is not read alike by all (see plainPath).
		return strings.ReplaceAll(path.String(), "%", "_"), nil
	}
	return path.String(), nil
}

func local(location string) bool {
	return strings.HasPrefix(location, "file:") || !strings.Contains(location, "://")
}

// partitionValue is the library's form of a partition value, nil for null, and its type.
func partitionValue(v record.PartitionValue) (any, iceberg.Type, error) {
	typ, err := icebergType("", v.Type)
	if err != nil {
		return nil, nil, err
	}
	if v.Null {
		return nil, typ, nil
	}
	if v.Value == nil {
		v.Value = []byte{} // an empty string or binary, after JSON has dropped it
	}
	literal, err := iceberg.LiteralFromBytes(typ, v.Value)
	if err != nil {
		return nil, nil, fmt.Errorf("decoding its value of type %s: %w", v.Type, err)
	}
	return literal.Any(), typ, nil
}
