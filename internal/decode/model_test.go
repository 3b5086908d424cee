package decode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"firn/internal/record"

	"github.com/google/uuid"
)

// modelRow is the row as showRow has it, or why it is rejected.
func modelRow(in []byte, s *record.Schema, o JSONOptions) (row, why string) {
	v, why := readJSON(in, o.DepthMax)
	if why != "" {
		return "", why
	}
	if v.kind != '{' {
		return "", "no object"
	}
	return modelObject(v, s.Fields, o)
}

// modelObject reads each member; the last one of a key counts, whatever the others are.
func modelObject(v *jsonValue, fields []record.Field, o JSONOptions) (row, why string) {
	texts, whys := map[string]string{}, map[string]string{}
	for i, key := range v.keys {
		at := slices.IndexFunc(fields, func(f record.Field) bool { return f.Name == key })
		if at < 0 {
			if o.RejectUnknownFields {
				return "", "unknown key " + key
			}
			continue
		}
		if _, twice := texts[key]; twice && o.RejectDuplicateKeys {
			return "", "duplicate key " + key
		}
		texts[key], whys[key] = modelValue(v.values[i], fields[at].Type, o)
	}
	var shown []string
	for _, f := range fields {
		if why := whys[f.Name]; why != "" {
			return "", f.Name + ": " + why
		}
		switch text := texts[f.Name]; {
		case text != "" && text != "null":
			shown = append(shown, f.Name+"="+text)
		case f.Required:
			return "", f.Name + " is required"
		}
	}
	return strings.Join(shown, " "), ""
}

// modelValue is a value as showValue has it.
func modelValue(v *jsonValue, t record.Type, o JSONOptions) (text, why string) {
	if v.kind == 0 && v.scalar == nil {
		return "null", ""
	}
	if t.JSON {
		return strconv.Quote(v.text), ""
	}
	switch t.Kind {
	case record.KindStruct:
		if v.kind != '{' {
			return "", "no object"
		}
		row, why := modelObject(v, t.Fields, o)
		return "{" + row + "}", why
	case record.KindList:
		if v.kind != '[' {
			return "", "no array"
		}
		return modelList(v, t, o)
	case record.KindMap:
		if v.kind != '{' {
			return "", "no object"
		}
		return modelMap(v, t, o)
	}
	switch scalar := v.scalar.(type) {
	case bool:
		if t.Kind != record.KindBoolean {
			return "", "boolean"
		}
		return strconv.FormatBool(scalar), ""
	case json.Number:
		return modelNumber(string(scalar), t)
	case string:
		switch t.Kind {
		case record.KindBoolean:
			return "", "string"
		case record.KindInt, record.KindLong, record.KindFloat, record.KindDouble:
			if !o.AcceptNumbersInStrings {
				return "", "string"
			}
		}
		return modelText(scalar, t)
	default:
		return "", "container"
	}
}

func modelList(v *jsonValue, t record.Type, o JSONOptions) (text, why string) {
	var shown []string
	for _, e := range v.values {
		text, why := modelValue(e, t.Fields[0].Type, o)
		if why == "" && text == "null" && t.Fields[0].Required {
			why = "null element"
		}
		if why != "" {
			return "", why
		}
		shown = append(shown, text)
	}
	return "[" + strings.Join(shown, " ") + "]", ""
}

func modelMap(v *jsonValue, t record.Type, o JSONOptions) (text, why string) {
	var keys, shown, whys []string
	for i := range v.keys {
		key, why := modelText(v.keys[i], t.Fields[0].Type)
		if why != "" {
			return "", why
		}
		text, why := modelValue(v.values[i], t.Fields[1].Type, o)
		if why == "" && text == "null" && t.Fields[1].Required {
			why = "null value"
		}
		same := key
		if same == "-0" {
			same = "0" // equal as numbers
		}
		if at := slices.Index(keys, same); at >= 0 {
			keys, shown, whys = slices.Delete(keys, at, at+1), slices.Delete(shown, at, at+1), slices.Delete(whys, at, at+1)
			if o.RejectDuplicateKeys {
				return "", "duplicate key " + key
			}
		}
		keys, shown, whys = append(keys, same), append(shown, key+":"+text), append(whys, why)
	}
	return "[" + strings.Join(shown, " ") + "]", strings.Join(whys, "")
}

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	jsonWhole  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
)

// modelNumber reads a number's literal.
func modelNumber(s string, t record.Type) (text, why string) {
	if !jsonNumber.MatchString(s) {
		return "", "no number"
	}
	switch t.Kind {
	case record.KindFloat:
		v, err := strconv.ParseFloat(s, 32)
		return fmt.Sprint(float32(v)), errorText(err)
	case record.KindDouble:
		v, err := strconv.ParseFloat(s, 64)
		return fmt.Sprint(v), errorText(err)
	case record.KindDecimal:
		return modelDecimal(s, t)
	case record.KindBoolean, record.KindString, record.KindBinary, record.KindFixed, record.KindUUID:
		return "", "number"
	}
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || !jsonWhole.MatchString(s) {
		return "", "no integer"
	}
	bits := 63
	if t.Kind == record.KindInt || t.Kind == record.KindDate {
		bits = 31
	}
	bound := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if v.Cmp(bound) >= 0 || v.Cmp(bound.Neg(bound)) < 0 {
		return "", "overflow"
	}
	if t.Millis {
		v.Mul(v, big.NewInt(1000))
	}
	if t.Kind == record.KindTime && (v.Sign() < 0 || v.Cmp(big.NewInt(86_400_000_000)) >= 0) {
		return "", "no time of day"
	}
	if !v.IsInt64() {
		return "", "overflow"
	}
	return v.String(), ""
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func modelDecimal(s string, t record.Type) (text, why string) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return "0", ""
	}
	// Beyond this exponent no text of a test has digits enough, and big.Rat would grow without bound.
	if e, err := strconv.Atoi(exponent); exponent != "" && (err != nil || e > 100_000 || e < -100_000) {
		return "", "exponent"
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", "no decimal"
	}
	ten := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	v.Mul(v, new(big.Rat).SetInt(ten(t.Scale)))
	if !v.IsInt() {
		return "", "too fine"
	}
	if new(big.Int).Abs(v.Num()).Cmp(ten(t.Precision)) >= 0 {
		return "", "too large"
	}
	return v.Num().String(), ""
}

var (
	dateText  = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	clockText = regexp.MustCompile(`^\d\d:\d\d:\d\d(\.\d+)?$`)
	localText = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?$`)
	zonedText = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
)

// modelText reads a string by a type.
func modelText(s string, t record.Type) (text, why string) {
	switch t.Kind {
	case record.KindString:
		return strconv.Quote(s), ""
	case record.KindBoolean:
		if s != "true" && s != "false" {
			return "", "no boolean"
		}
		return s, ""
	case record.KindBinary, record.KindFixed:
		v, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil || strings.ContainsAny(s, "\r\n") {
			return "", "no base64"
		}
		if t.Kind == record.KindBinary {
			return strconv.Quote(string(v)), ""
		}
		if len(v) != t.Length {
			return "", "length"
		}
		return fmt.Sprintf("%x", v), ""
	case record.KindUUID:
		v, err := uuid.Parse(s)
		if err != nil || len(s) != 36 {
			return "", "no uuid"
		}
		return fmt.Sprintf("%x", v[:]), ""
	case record.KindDate, record.KindTime, record.KindTimestamp, record.KindTimestampTZ, record.KindTimestampNs,
		record.KindTimestampTZNs:
		return modelTime(s, t.Kind)
	default:
		return modelNumber(s, t)
	}
}

func modelTime(s string, k record.Kind) (text, why string) {
	unit, pattern, zone := time.Microsecond, localText, "Z"
	switch k {
	case record.KindDate:
		v, err := time.Parse("2006-01-02", s)
		if err != nil || !dateText.MatchString(s) {
			return "", "no date"
		}
		return fmt.Sprint(v.Unix() / 86400), ""
	case record.KindTime:
		if !clockText.MatchString(s) {
			return "", "no time of day"
		}
		s = "1970-01-01T" + s
	case record.KindTimestampNs:
		unit = time.Nanosecond
	case record.KindTimestampTZ:
		pattern, zone = zonedText, ""
	case record.KindTimestampTZNs:
		unit, pattern, zone = time.Nanosecond, zonedText, ""
	}
	m := pattern.FindStringSubmatch(s)
	if m == nil {
		return "", "no timestamp"
	}
	if zone == "" {
		zone = strings.ToUpper(m[4])
	}
	v, err := time.Parse(time.RFC3339, m[1]+"T"+m[2]+zone)
	if err != nil {
		return "", err.Error()
	}
	fraction := strings.TrimRight(strings.TrimPrefix(m[3], "."), "0")
	digits := len(strconv.Itoa(int(time.Second/unit))) - 1
	if len(fraction) > digits {
		return "", "too fine"
	}
	n, _ := new(big.Int).SetString("0"+fraction+strings.Repeat("0", digits-len(fraction)), 10)
	total := new(big.Int).Mul(big.NewInt(v.Unix()), big.NewInt(int64(time.Second/unit)))
	if total.Add(total, n); !total.IsInt64() {
		return "", "overflow"
	}
	return total.String(), ""
}
