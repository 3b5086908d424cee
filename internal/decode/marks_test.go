package decode

import (
	"strings"
	"testing"

	"firn/internal/record"
)

// forEachWayToScan runs the test with marks, where the machine has them, and without.
func forEachWayToScan(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	defer func(before bool) { marking = before }(marking)
	for name, on := range map[string]bool{"marks": true, "words": false} {
		marking = on && hasAVX2
		if on == marking {
			t.Run(name, test)
		}
	}
}

// With marks and without, all records become the same rows and are refused for the same reasons.
func TestMarksChangeNoRow(t *testing.T) {
	s := everyKind()
	var values []string
	for _, c := range valueCases {
		values = append(values, c.in)
	}
	for _, f := range s.Fields {
		for _, text := range scalarTexts() {
			values = append(values, matrixMessage(f.Name, text), strings.Repeat(" ", 61)+matrixMessage(f.Name, text))
		}
	}
	values = append(append(values, wideMessages(200, true)...), narrowMessages(20, true)...)
	var rows []string
	forEachWayToScan(t, func(t *testing.T) {
		d, batch := newJSON(t, s, nil), record.NewBatch(s)
		for i, v := range values {
			switch got := decodeOne(t, d, batch, v); {
			case len(rows) <= i:
				rows = append(rows, got)
			case got != rows[i]:
				t.Errorf("%s: %s, and %s", v, got, rows[i])
			}
		}
	})
}
