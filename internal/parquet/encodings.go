package parquet

import (
	"fmt"
	"strings"
)

// Encodings is which encodings data pages may have.
type Encodings uint8

const (
	// EncodingsCompatible is PLAIN and dictionaries, which every reader knows. Iceberg's vectorized reader for Spark
	// refuses byte stream split and delta byte arrays up to its version 1.10, and DELTA_BINARY_PACKED before 1.10.
	EncodingsCompatible Encodings = iota
	// EncodingsAuto tries the others on a page of each column for which a dictionary does not pay, and keeps the one
	// that makes it smallest.
	EncodingsAuto
)

var encodingsNames = [...]string{"compatible", "auto"}

// String is the name that ParseEncodings reads.
func (e Encodings) String() string {
	if int(e) >= len(encodingsNames) {
		return fmt.Sprintf("encodings(%d)", uint8(e))
	}
	return encodingsNames[e]
}

// ParseEncodings reads "compatible" or "auto", in any case.
func ParseEncodings(s string) (Encodings, error) {
	for i, name := range encodingsNames {
		if strings.EqualFold(s, name) {
			return Encodings(i), nil
		}
	}
	return 0, fmt.Errorf("parquet encodings %q are not one of %s", s, strings.Join(encodingsNames[:], ", "))
}
