package bigquery

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRowsAreTakenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.StringMatching(`x{0,200}|[a-z]*`), 1, 8).Draw(t, "texts")
		out := rapid.SliceOfN(rapid.Bool(), len(all), len(all)).Draw(t, "out")
		var left []string
		var indexes []int
		for i, text := range all {
			if out[i] {
				indexes = append(indexes, i)
			} else {
				left = append(left, text)
			}
		}
		got, err := WithoutRows([]byte("before"), rowsOf(all...), indexes)
		if err != nil || !bytes.Equal(got, append([]byte("before"), rowsOf(left...)...)) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestRowsThatAreNone(t *testing.T) {
	good := rowsOf("a", "b")
	for name, rows := range map[string][]byte{
		"cut": good[:len(good)-1], "another field": {0x12, 0}, "half a length": {rowsTag, 0x80}, "one byte": {rowsTag},
		"a length without end": slices.Concat([]byte{rowsTag}, bytes.Repeat([]byte{0xff}, 10)),
	} {
		if _, err := WithoutRows(nil, rows, nil); !errors.Is(err, errRows) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, indexes := range [][]int{{2}, {1, 0}, {-1}} {
		if _, err := WithoutRows(nil, good, indexes); err == nil || !strings.Contains(err.Error(), "there is no row") {
			t.Errorf("%v: %v", indexes, err)
		}
	}
}

// A length that takes more or fewer bytes than were reserved moves what it stands before.
func TestLengthsAreAsShortAsCanBe(t *testing.T) {
	for _, length := range []int{0, 1, 127, 128, 16383, 16384} {
		for guess := range 4 {
			content := bytes.Repeat([]byte("ab"), length)[:length]
			buf := append(reserve([]byte("x"), guess), content...)
			buf, need := setLength(buf, 1, guess)
			want := append(appendVarint([]byte("x"), uint64(length)), content...)
			if !bytes.Equal(buf, want) || need != varintBytes(uint64(length)) {
				t.Errorf("length %d, guessed to take %d: %d bytes, want %d", length, guess, len(buf), len(want))
			}
		}
	}
}
