package bigquery

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/descriptorpb"
)

// check tells why a value is none of its column's type; empty when it is one.
func check(f *field, s scalar) (reason string) {
	c := f.col
	switch c.kind {
	case storagepb.TableFieldSchema_INT64, storagepb.TableFieldSchema_DOUBLE:
		return ""
	case storagepb.TableFieldSchema_STRING:
		return c.checkText(f, s)
	case storagepb.TableFieldSchema_BYTES:
		if c.lengthMax > 0 && int64(len(s.bytes)) > c.lengthMax {
			return fmt.Sprintf("maximum bytes length exceeded: %d of %d", len(s.bytes), c.lengthMax)
		}
		return ""
	case storagepb.TableFieldSchema_DATE:
		_, reason = f.day(s)
	case storagepb.TableFieldSchema_TIME:
		_, reason = f.time(s)
	case storagepb.TableFieldSchema_DATETIME:
		_, reason = f.datetime(s)
	case storagepb.TableFieldSchema_TIMESTAMP:
		_, reason = f.timestamp(s)
	case storagepb.TableFieldSchema_NUMERIC, storagepb.TableFieldSchema_BIGNUMERIC:
		_, reason = f.decimal(s)
	case storagepb.TableFieldSchema_JSON:
		if !json.Valid(s.bytes) {
			return "invalid JSON"
		}
	case storagepb.TableFieldSchema_GEOGRAPHY:
		return checkGeography(string(s.bytes))
	default: // BOOL takes any integer, and INTERVAL any text
	}
	return reason
}

func (c *column) checkText(f *field, s scalar) (reason string) {
	switch {
	case f.enum != nil:
		if _, ok := f.enum[int32(s.bits)]; !ok {
			return fmt.Sprintf("enum value %d has no name", int32(s.bits))
		}
	case c.name == changeTypeName && string(s.bytes) != "UPSERT" && string(s.bytes) != "DELETE":
		return fmt.Sprintf("invalid change type %q, it must be UPSERT or DELETE", s.bytes)
	case c.name == changeSequenceName:
		if _, ok := parseSequence(string(s.bytes)); !ok {
			return fmt.Sprintf("invalid change sequence number %q", s.bytes)
		}
	case c.lengthMax > 0 && int64(utf8.RuneCount(s.bytes)) > c.lengthMax:
		return fmt.Sprintf("maximum string length exceeded: %d of %d", utf8.RuneCount(s.bytes), c.lengthMax)
	}
	return ""
}

// checkGeography looks at a text's first word only: WKT's types, or GeoJSON.
func checkGeography(text string) (reason string) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		if !json.Valid([]byte(text)) {
			return "invalid GeoJSON"
		}
		return ""
	}
	for _, name := range []string{
		"POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "FULLGLOBE",
	} {
		if word := strings.TrimLeft(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"); strings.EqualFold(
			text[:len(text)-len(word)], name) {
			return ""
		}
	}
	return "invalid geography value"
}

// integer is the value of a field of shapeInteger, shapeBool or shapeEnum.
func (f *field) integer(bits uint64) int64 {
	switch f.typ {
	case descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_SFIXED32,
		descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		return int64(int32(bits))
	case descriptorpb.FieldDescriptorProto_TYPE_UINT32, descriptorpb.FieldDescriptorProto_TYPE_FIXED32:
		return int64(uint32(bits))
	case descriptorpb.FieldDescriptorProto_TYPE_SINT32:
		return int64(int32(protowire.DecodeZigZag(bits & math.MaxUint32)))
	case descriptorpb.FieldDescriptorProto_TYPE_SINT64:
		return protowire.DecodeZigZag(bits)
	default:
		return int64(bits)
	}
}

func (f *field) float(bits uint64) float64 {
	if f.typ == descriptorpb.FieldDescriptorProto_TYPE_FLOAT {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// convert makes of a value that check found good what a Row holds.
func convert(f *field, s scalar) any {
	switch f.col.kind {
	case storagepb.TableFieldSchema_INT64:
		return f.integer(s.bits)
	case storagepb.TableFieldSchema_DOUBLE:
		return f.float(s.bits)
	case storagepb.TableFieldSchema_BOOL:
		return s.bits != 0
	case storagepb.TableFieldSchema_BYTES:
		return append([]byte{}, s.bytes...)
	case storagepb.TableFieldSchema_DATE:
		day, _ := f.day(s)
		return dateText(day)
	case storagepb.TableFieldSchema_TIME:
		micros, _ := f.time(s)
		return timeText(micros)
	case storagepb.TableFieldSchema_DATETIME:
		micros, _ := f.datetime(s)
		return datetimeText(micros)
	case storagepb.TableFieldSchema_TIMESTAMP:
		micros, _ := f.timestamp(s)
		return time.UnixMicro(micros).UTC()
	case storagepb.TableFieldSchema_NUMERIC, storagepb.TableFieldSchema_BIGNUMERIC:
		unscaled, _ := f.decimal(s)
		return decimalText(unscaled, decimalScale(f.col.kind))
	default:
		if f.enum != nil {
			return f.enum[int32(s.bits)]
		}
		return string(s.bytes)
	}
}
