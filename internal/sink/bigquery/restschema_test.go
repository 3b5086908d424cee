package bigquery

import (
	"testing"

	bq "cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

// The API answers with some names and takes others for the same types.
func TestTypesOfTheBigQueryAPI(t *testing.T) {
	for _, c := range []struct {
		name bq.FieldType
		want storagepb.TableFieldSchema_Type
	}{
		{"INTEGER", storagepb.TableFieldSchema_INT64}, {"INT64", storagepb.TableFieldSchema_INT64},
		{"FLOAT", storagepb.TableFieldSchema_DOUBLE}, {"FLOAT64", storagepb.TableFieldSchema_DOUBLE},
		{"BOOLEAN", storagepb.TableFieldSchema_BOOL}, {"BOOL", storagepb.TableFieldSchema_BOOL},
		{"RECORD", storagepb.TableFieldSchema_STRUCT}, {"STRUCT", storagepb.TableFieldSchema_STRUCT},
		{"RANGE", storagepb.TableFieldSchema_RANGE}, {"INTERVAL", storagepb.TableFieldSchema_INTERVAL},
		{"FOREIGN", storagepb.TableFieldSchema_TYPE_UNSPECIFIED},
	} {
		if got := fromREST(bq.Schema{{Name: "a", Type: c.name}}).GetFields()[0].GetType(); got != c.want {
			t.Errorf("%s is %s", c.name, got)
		}
	}
}

func TestSchemasOfTheBigQueryAPIKeepAll(t *testing.T) {
	schema := bq.Schema{
		{Name: "d", Description: "text", Type: bq.NumericFieldType, Precision: 9, Scale: 2, Required: true,
			DefaultValueExpression: "1"},
		{Name: "s", Type: bq.StringFieldType, MaxLength: 7, Repeated: true},
		{Name: "t", Type: bq.TimestampFieldType, TimestampPrecision: 12},
		{Name: "r", Type: bq.RecordFieldType, Schema: bq.Schema{{Name: "b", Type: bq.BooleanFieldType}}},
	}
	table := fromREST(schema)
	if f := table.GetFields()[0]; f.GetMode() != storagepb.TableFieldSchema_REQUIRED || f.GetScale() != 2 ||
		f.GetDefaultValueExpression() != "1" || f.GetDescription() != "text" {
		t.Errorf("%v", f)
	}
	back, err := toREST(table.GetFields(), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(schema, back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(table, fromREST(back), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
