package table

import (
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// literal reads a literal and makes it one of the column's type. What does not fit exactly is an error: 1.5 for a long,
// a date for a timestamptz, a number for a string.
func (p *whereParser) literal(c whereColumn) (iceberg.Literal, error) {
	t := p.token
	switch {
	case t.is("NULL"):
		return nil, p.fail(t, "nothing equals NULL; write %s IS NULL", c.name)
	case t.kind == tokenEnd || t.kind == tokenSymbol:
		return nil, p.unexpected("a literal")
	case t.kind == tokenQuoted:
		return nil, p.fail(t, "want a literal, got the column %s; text stands in 'single quotes'", t)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	lit, err := literalOf(c.typ, t)
	if err != nil {
		return nil, p.fail(t, "%s is %s: %s", c.name, c.typ, err)
	}
	return lit, nil
}

func literalOf(typ iceberg.Type, t token) (iceberg.Literal, error) {
	switch typ := typ.(type) {
	case iceberg.BooleanType:
		return booleanLiteral(t)
	case iceberg.Int32Type:
		n, err := integer(t, 32)
		return iceberg.Int32Literal(n), err
	case iceberg.Int64Type:
		n, err := integer(t, 64)
		return iceberg.Int64Literal(n), err
	case iceberg.Float32Type:
		f, err := float(t, 32)
		return iceberg.Float32Literal(f), err
	case iceberg.Float64Type:
		f, err := float(t, 64)
		return iceberg.Float64Literal(f), err
	case iceberg.DecimalType:
		return decimalLiteral(typ, t)
	case iceberg.BinaryType:
		raw, err := rawBytes(t)
		return iceberg.BinaryLiteral(raw), err
	case iceberg.FixedType:
		raw, err := rawBytes(t)
		if err == nil && len(raw) != typ.Len() {
			err = errors.New("want " + strconv.Itoa(typ.Len()) + " bytes, got " + strconv.Itoa(len(raw)))
		}
		return iceberg.FixedLiteral(raw), err
	default:
		return textLiteral(typ, t)
	}
}

func booleanLiteral(t token) (iceberg.Literal, error) {
	switch {
	case t.is("true"):
		return iceberg.BoolLiteral(true), nil
	case t.is("false"):
		return iceberg.BoolLiteral(false), nil
	default:
		return nil, errors.New("want true or false, got " + t.String())
	}
}

func integer(t token, bits int) (int64, error) {
	if t.kind != tokenNumber {
		return 0, errors.New("want a whole number, got " + t.String())
	}
	n, err := strconv.ParseInt(t.text, 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New(t.text + " is out of range")
	case err != nil:
		return 0, errors.New("want a whole number, got " + t.text)
	}
	return n, nil
}

// float takes a number, or 'inf' or '-inf' in quotes.
func float(t token, bits int) (float64, error) {
	isInfinity := t.kind == tokenString && (strings.EqualFold(t.text, "inf") || strings.EqualFold(t.text, "-inf"))
	if t.kind == tokenString && strings.EqualFold(t.text, "nan") {
		return 0, errors.New("nothing equals NaN; write IS NAN")
	}
	if t.kind != tokenNumber && !isInfinity {
		return 0, errors.New("want a number, got " + t.String())
	}
	f, err := strconv.ParseFloat(t.text, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New(t.text + " is out of range")
	case err != nil || strings.ContainsAny(t.text, "_xXpP") || math.IsInf(f, 0) && !isInfinity:
		return 0, errors.New("want a number, got " + t.text)
	}
	return f, nil
}

// decimalLiteral takes digits with a point, without an exponent.
func decimalLiteral(typ iceberg.DecimalType, t token) (iceberg.Literal, error) {
	if t.kind != tokenNumber || strings.Trim(t.text, "+-0123456789.") != "" {
		return nil, errors.New("want a number such as 12.50, got " + t.String())
	}
	whole, fraction, _ := strings.Cut(t.text, ".")
	if len(fraction) > typ.Scale() {
		return nil, errors.New(t.text + " has more digits after the point")
	}
	unscaled, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", typ.Scale()-len(fraction)), 10)
	if !ok {
		return nil, errors.New("want a number such as 12.50, got " + t.text)
	}
	if digits := strings.TrimLeft(unscaled.String(), "-"); len(digits) > typ.Precision() {
		return nil, errors.New(t.text + " has too many digits")
	}
	return iceberg.DecimalLiteral{Val: decimal128.FromBigInt(unscaled), Scale: typ.Scale()}, nil
}

func rawBytes(t token) ([]byte, error) {
	if t.kind != tokenBytes {
		return nil, errors.New("want bytes as X'00ff', got " + t.String())
	}
	raw, err := hex.DecodeString(t.text)
	if err != nil {
		return nil, errors.New("want hexadecimal digits in pairs, got " + t.String())
	}
	return raw, nil
}

func textLiteral(typ iceberg.Type, t token) (iceberg.Literal, error) {
	switch typ.(type) {
	case iceberg.StringType, iceberg.DateType, iceberg.TimeType, iceberg.UUIDType, iceberg.TimestampType,
		iceberg.TimestampTzType, iceberg.TimestampNsType, iceberg.TimestampTzNsType:
	default:
		return nil, errors.New("this type can only be compared by IS NULL")
	}
	if t.kind != tokenString {
		return nil, errors.New("want text in 'single quotes', got " + t.String())
	}
	switch typ.(type) {
	case iceberg.StringType:
		return iceberg.StringLiteral(t.text), nil
	case iceberg.UUIDType:
		id, err := uuid.Parse(t.text)
		if err != nil {
			return nil, errors.New("want a UUID such as '6ba7b810-9dad-11d1-80b4-00c04fd430c8'")
		}
		return iceberg.UUIDLiteral(id), nil
	case iceberg.DateType:
		d, err := time.Parse(time.DateOnly, t.text)
		if err != nil {
			return nil, errors.New("want a date such as '2026-01-31'")
		}
		return iceberg.DateLiteral(d.Unix() / secondsADay), nil
	case iceberg.TimeType:
		d, err := timeOfDay(t.text)
		return iceberg.TimeLiteral(d), err
	default:
		return timestampLiteral(typ, t.text)
	}
}

const secondsADay = 24 * 60 * 60

func timeOfDay(text string) (int64, error) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if d, err := time.Parse(layout, text); err == nil {
			sinceMidnight := d.Sub(d.Truncate(24 * time.Hour))
			if sinceMidnight%time.Microsecond != 0 {
				return 0, errors.New("finer than microseconds")
			}
			return sinceMidnight.Microseconds(), nil
		}
	}
	return 0, errors.New("want a time such as '10:00:00' or '10:00:00.5'")
}

// timestampLiteral wants a zone for the types that have one, and none for those that have not: what is missing would
// have to be guessed.
func timestampLiteral(typ iceberg.Type, text string) (iceberg.Literal, error) {
	zone, example, nanos := "", "'2026-01-31T10:00:00'", false
	switch typ.(type) {
	case iceberg.TimestampTzType:
		zone, example = "Z07:00", "'2026-01-31T10:00:00Z'"
	case iceberg.TimestampTzNsType:
		zone, example, nanos = "Z07:00", "'2026-01-31T10:00:00Z'", true
	case iceberg.TimestampNsType:
		nanos = true
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		at, err := time.Parse(layout+zone, text)
		switch {
		case err != nil:
			continue
		case !nanos && at.Nanosecond()%1000 != 0:
			return nil, errors.New("finer than microseconds")
		case !nanos:
			return iceberg.TimestampLiteral(at.UnixMicro()), nil
		case at.Year() < 1678 || at.Year() > 2261:
			return nil, errors.New("out of range of nanoseconds, which is the years 1678 to 2261")
		default:
			return iceberg.TimestampNsLiteral(at.UnixNano()), nil
		}
	}
	return nil, errors.New("want a timestamp such as " + example)
}
