package bigquery

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"firn/internal/record"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// showMessage is a row as text, from the message that a server reads. It takes apart what the API's own encoders make.
func showMessage(m protoreflect.Message, table []*storagepb.TableFieldSchema) string {
	var s []string
	for _, c := range table {
		f := m.Descriptor().Fields().ByName(protoreflect.Name(c.GetName()))
		if f == nil || !m.Has(f) {
			continue
		}
		if !f.IsList() {
			s = append(s, c.GetName()+"="+showProto(m.Get(f), c))
			continue
		}
		var elements []string
		list := m.Get(f).List()
		for i := range list.Len() {
			elements = append(elements, showProto(list.Get(i), c))
		}
		s = append(s, c.GetName()+"=["+strings.Join(elements, " ")+"]")
	}
	return "{" + strings.Join(s, " ") + "}"
}

func showProto(v protoreflect.Value, c *storagepb.TableFieldSchema) string {
	switch c.GetType() {
	case storagepb.TableFieldSchema_STRUCT:
		return showMessage(v.Message().(*dynamicpb.Message), c.GetFields())
	case storagepb.TableFieldSchema_NUMERIC:
		return showTwos(v.Bytes(), numericScale)
	case storagepb.TableFieldSchema_BIGNUMERIC:
		return showTwos(v.Bytes(), bignumericScale)
	case storagepb.TableFieldSchema_TIME:
		return showClock(v.Int())
	case storagepb.TableFieldSchema_DATETIME:
		n := v.Int()
		return fmt.Sprintf("%04d-%02d-%02dT%s", n>>46, n>>42&15, n>>37&31, showClock(n&(1<<37-1)))
	case storagepb.TableFieldSchema_BYTES:
		return fmt.Sprintf("%q", v.Bytes())
	case storagepb.TableFieldSchema_STRING, storagepb.TableFieldSchema_JSON, storagepb.TableFieldSchema_GEOGRAPHY:
		return fmt.Sprintf("%q", v.String())
	default:
		return fmt.Sprint(v.Interface())
	}
}

func showClock(n int64) string {
	return fmt.Sprintf("%02d:%02d:%02d.%06d", n>>32&31, n>>26&63, n>>20&63, n&(1<<20-1))
}

// showTwos is a decimal from its bytes in two's complement, the lowest first.
func showTwos(b []byte, scale int) string {
	b = slices.Clone(b)
	slices.Reverse(b)
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return showDecimal(v, scale)
}

func showDecimal(v *big.Int, scale int) string {
	return new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).RatString()
}

// modelRow is what showMessage must give for a row, or why the row is refused.
func modelRow(columns []record.Column, row int, table []*storagepb.TableFieldSchema) (text, why string) {
	var s []string
	for i := range columns {
		c, t := &columns[i], table[i]
		if !c.Valid[row] {
			if t.GetMode() == storagepb.TableFieldSchema_REQUIRED && why == "" {
				why = "null"
			}
			continue
		}
		if t.GetMode() != storagepb.TableFieldSchema_REPEATED {
			text, reason := modelValue(c, row, t)
			s, why = append(s, t.GetName()+"="+text), first(why, reason)
			continue
		}
		var elements []string
		for j := c.Offsets[row]; j < c.Offsets[row+1]; j++ {
			if !c.Children[0].Valid[j] {
				why = first(why, "null element")
				continue
			}
			text, reason := modelValue(&c.Children[0], int(j), t)
			elements, why = append(elements, text), first(why, reason)
		}
		if len(elements) > 0 {
			s = append(s, t.GetName()+"=["+strings.Join(elements, " ")+"]")
		}
	}
	return "{" + strings.Join(s, " ") + "}", why
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func modelValue(c *record.Column, i int, t *storagepb.TableFieldSchema) (text, why string) {
	switch t.GetType() {
	case storagepb.TableFieldSchema_STRUCT:
		return modelRow(c.Children, i, t.GetFields())
	case storagepb.TableFieldSchema_NUMERIC, storagepb.TableFieldSchema_BIGNUMERIC:
		return modelDecimal(c, i)
	case storagepb.TableFieldSchema_BOOL:
		return fmt.Sprint(c.Bools[i]), ""
	case storagepb.TableFieldSchema_DOUBLE:
		return fmt.Sprint(c.Floats64[i]), ""
	case storagepb.TableFieldSchema_INT64:
		return fmt.Sprint(c.Ints64[i]), ""
	case storagepb.TableFieldSchema_DATE:
		if at := time.Unix(int64(c.Ints32[i])*86400, 0).UTC(); at.Year() < 1 || at.Year() > 9999 {
			why = "date"
		}
		return fmt.Sprint(c.Ints32[i]), why
	case storagepb.TableFieldSchema_TIME:
		if c.Ints64[i] < 0 || c.Ints64[i] >= 86400e6 {
			why = "time"
		}
		return time.UnixMicro(c.Ints64[i]).UTC().Format("15:04:05.000000"), why
	case storagepb.TableFieldSchema_TIMESTAMP, storagepb.TableFieldSchema_DATETIME:
		at := time.UnixMicro(c.Ints64[i]).UTC()
		if at.Year() < 1 || at.Year() > 9999 {
			why = "timestamp"
		}
		if t.GetType() == storagepb.TableFieldSchema_TIMESTAMP {
			return fmt.Sprint(c.Ints64[i]), why
		}
		return at.Format("2006-01-02T15:04:05.000000"), why
	default:
		v, length := c.Bytes[i], len(c.Bytes[i])
		if t.GetType() == storagepb.TableFieldSchema_STRING {
			length = utf8.RuneCount(v)
		}
		if t.GetMaxLength() > 0 && length > int(t.GetMaxLength()) {
			why = "length"
		}
		return fmt.Sprintf("%q", v), why
	}
}

func modelDecimal(c *record.Column, i int) (text, why string) {
	t := c.Field.Type
	if t.Kind == record.KindString {
		return modelNumber(string(bytes.Trim(c.Bytes[i], `"`)))
	}
	v := new(big.Int)
	if t.Precision <= 18 {
		v.SetInt64(c.Ints64[i])
	} else {
		b := c.FixedAt(i)
		v.SetInt64(int64(binary.BigEndian.Uint64(b)))
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(binary.BigEndian.Uint64(b[8:])))
	}
	return showDecimal(v, t.Scale), ""
}

// modelNumber is the text of a BIGNUMERIC.
func modelNumber(s string) (text, why string) {
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", "no number"
	}
	v.Mul(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(bignumericScale), nil)))
	if !v.IsInt() {
		return "", "too fine"
	}
	bound := new(big.Int).Lsh(big.NewInt(1), 255)
	if v.Num().Cmp(bound) >= 0 || v.Num().Cmp(bound.Neg(bound)) < 0 {
		return "", "too large"
	}
	return showDecimal(v.Num(), bignumericScale), ""
}
