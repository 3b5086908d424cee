package bigquery

import (
	"fmt"

	bq "cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// restTypes has the types by the names that the REST API has for them, the one it answers with first.
var restTypes = []struct {
	rest    bq.FieldType
	storage storagepb.TableFieldSchema_Type
}{
	{bq.StringFieldType, storagepb.TableFieldSchema_STRING},
	{bq.BytesFieldType, storagepb.TableFieldSchema_BYTES},
	{bq.IntegerFieldType, storagepb.TableFieldSchema_INT64},
	{"INT64", storagepb.TableFieldSchema_INT64},
	{bq.FloatFieldType, storagepb.TableFieldSchema_DOUBLE},
	{"FLOAT64", storagepb.TableFieldSchema_DOUBLE},
	{bq.BooleanFieldType, storagepb.TableFieldSchema_BOOL},
	{"BOOL", storagepb.TableFieldSchema_BOOL},
	{bq.TimestampFieldType, storagepb.TableFieldSchema_TIMESTAMP},
	{bq.RecordFieldType, storagepb.TableFieldSchema_STRUCT},
	{"STRUCT", storagepb.TableFieldSchema_STRUCT},
	{bq.DateFieldType, storagepb.TableFieldSchema_DATE},
	{bq.TimeFieldType, storagepb.TableFieldSchema_TIME},
	{bq.DateTimeFieldType, storagepb.TableFieldSchema_DATETIME},
	{bq.NumericFieldType, storagepb.TableFieldSchema_NUMERIC},
	{bq.BigNumericFieldType, storagepb.TableFieldSchema_BIGNUMERIC},
	{bq.GeographyFieldType, storagepb.TableFieldSchema_GEOGRAPHY},
	{bq.JSONFieldType, storagepb.TableFieldSchema_JSON},
	{bq.IntervalFieldType, storagepb.TableFieldSchema_INTERVAL},
	{bq.RangeFieldType, storagepb.TableFieldSchema_RANGE},
}

// fromREST is a schema of the REST API as the Storage Write API has it. Unlike adapt.BQSchemaToStorageTableSchema it
// keeps parameters. A type that is not known stays unspecified, for RecordSchema to refuse.
func fromREST(schema bq.Schema) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: fromRESTFields(schema)}
}

func fromRESTFields(schema bq.Schema) []*storagepb.TableFieldSchema {
	fields := make([]*storagepb.TableFieldSchema, 0, len(schema))
	for _, f := range schema {
		c := &storagepb.TableFieldSchema{
			Name: f.Name, Description: f.Description, Mode: storagepb.TableFieldSchema_NULLABLE,
			MaxLength: f.MaxLength, Precision: f.Precision, Scale: f.Scale,
			DefaultValueExpression: f.DefaultValueExpression, Fields: fromRESTFields(f.Schema),
		}
		if f.TimestampPrecision > 0 {
			c.TimestampPrecision = wrapperspb.Int64(f.TimestampPrecision)
		}
		for _, t := range restTypes {
			if t.rest == f.Type {
				c.Type = t.storage
			}
		}
		switch {
		case f.Repeated:
			c.Mode = storagepb.TableFieldSchema_REPEATED
		case f.Required:
			c.Mode = storagepb.TableFieldSchema_REQUIRED
		}
		fields = append(fields, c)
	}
	return fields
}

// toREST is the reverse of fromREST. The error names a column of a type that a table cannot be made with.
func toREST(columns []*storagepb.TableFieldSchema, path string) (bq.Schema, error) {
	schema := make(bq.Schema, 0, len(columns))
	for _, c := range columns {
		f := &bq.FieldSchema{
			Name: c.GetName(), Description: c.GetDescription(),
			Repeated:  c.GetMode() == storagepb.TableFieldSchema_REPEATED,
			Required:  c.GetMode() == storagepb.TableFieldSchema_REQUIRED,
			MaxLength: c.GetMaxLength(), Precision: c.GetPrecision(), Scale: c.GetScale(),
			DefaultValueExpression: c.GetDefaultValueExpression(),
			TimestampPrecision:     c.GetTimestampPrecision().GetValue(),
		}
		for i := len(restTypes) - 1; i >= 0; i-- {
			if restTypes[i].storage == c.GetType() {
				f.Type = restTypes[i].rest
			}
		}
		at := join(path, c.GetName())
		if f.Type == "" || f.Type == bq.RangeFieldType {
			return nil, fmt.Errorf("column %s: a table cannot be made with type %s", at, typeName(c))
		}
		if c.GetType() == storagepb.TableFieldSchema_STRUCT {
			inner, err := toREST(c.GetFields(), at)
			if err != nil {
				return nil, err
			}
			f.Schema = inner
		}
		schema = append(schema, f)
	}
	return schema, nil
}
