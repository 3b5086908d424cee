package table

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// Every value is printed in one way, whatever the machine's zone or locale: dates and times in ISO 8601, with as many
// fractional digits as there are; a timestamp with a zone in UTC with a Z; decimals with all digits of their scale;
// binary and fixed as hexadecimal digits.

func dateText(days int32) string {
	return time.Unix(int64(days)*secondsADay, 0).UTC().Format(time.DateOnly)
}

func timeText(micros int64) string { return time.UnixMicro(micros).UTC().Format("15:04:05.999999") }

func timestampText(micros int64, zone string) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.999999") + zone
}

func timestampNsText(nanos int64, zone string) string {
	return time.Unix(0, nanos).UTC().Format("2006-01-02T15:04:05.999999999") + zone
}

func decimalText(unscaled *big.Int, scale int) string {
	digits := new(big.Int).Abs(unscaled).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if unscaled.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// floatText is the shortest text that reads back as the same number.
func floatText(f float64, bits int) string { return strconv.FormatFloat(f, 'g', -1, bits) }

// zoneOf is what follows a timestamp of the type.
func zoneOf(t iceberg.Type) string {
	switch t.(type) {
	case iceberg.TimestampTzType, iceberg.TimestampTzNsType:
		return "Z"
	default:
		return ""
	}
}

// literalText prints a bound or a partition value. The type tells what a number stands for.
func literalText(t iceberg.Type, lit iceberg.Literal) string { return goText(t, lit.Any()) }

// goText prints a value as the Iceberg library holds it, which depends on where it comes from: a partition value read
// from a manifest has another Go type than a literal.
func goText(t iceberg.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case iceberg.Date:
		return dateText(int32(v))
	case iceberg.Time:
		return timeText(int64(v))
	case iceberg.Timestamp:
		return timestampText(int64(v), zoneOf(t))
	case iceberg.TimestampNano:
		return timestampNsText(int64(v), zoneOf(t))
	case iceberg.Decimal:
		return decimalText(v.Val.BigInt(), v.Scale)
	case iceberg.DecimalLiteral:
		return decimalText(v.Val.BigInt(), v.Scale)
	case decimal128.Num:
		return decimalText(v.BigInt(), scaleOf(t))
	case uuid.UUID:
		return v.String()
	case []byte:
		return hex.EncodeToString(v)
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float32:
		return floatText(float64(v), 32)
	case float64:
		return floatText(v, 64)
	default:
		return numberText(t, v)
	}
}

func scaleOf(t iceberg.Type) int {
	if d, ok := t.(iceberg.DecimalType); ok {
		return d.Scale()
	}
	return 0
}

// numberText prints an integer that stands for what the type says.
func numberText(t iceberg.Type, v any) string {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int32:
		n = int64(v)
	case int64:
		n = v
	default:
		return fmt.Sprint(v)
	}
	switch t.(type) {
	case iceberg.DateType:
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return dateText(int32(n))
		}
	case iceberg.TimeType:
		return timeText(n)
	case iceberg.TimestampType, iceberg.TimestampTzType:
		return timestampText(n, zoneOf(t))
	case iceberg.TimestampNsType, iceberg.TimestampTzNsType:
		return timestampNsText(n, zoneOf(t))
	}
	return strconv.FormatInt(n, 10)
}

// boundText prints a bound in Iceberg's single-value serialisation (spec, appendix D). One that does not fit the type,
// as an old or foreign writer may have left, is shown as hexadecimal digits.
func boundText(t iceberg.Type, raw []byte) string {
	// A column that was widened keeps the narrow bounds of its old files.
	if len(raw) == 4 && t.Equals(iceberg.PrimitiveTypes.Int64) {
		t = iceberg.PrimitiveTypes.Int32
	}
	if len(raw) == 4 && t.Equals(iceberg.PrimitiveTypes.Float64) {
		t = iceberg.PrimitiveTypes.Float32
	}
	lit, err := iceberg.LiteralFromBytes(t, raw)
	if err != nil {
		return "0x" + hex.EncodeToString(raw)
	}
	return literalText(t, lit)
}

// jsonString appends text as a JSON string, without the escapes that only HTML needs.
func jsonString(dst []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A string always marshals; what is no UTF-8 becomes the replacement character.
	_ = e.Encode(text)
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
