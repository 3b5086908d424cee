package parquet

import (
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

func textSchema() *record.Schema {
	return &record.Schema{Fields: []record.Field{{ID: 1, Name: "c", Type: record.Type{Kind: record.KindString}}}}
}

// texts are n rows of which the first to last values are the numbers f gives.
func texts(n int, f func(i int) int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{[]byte(fmt.Sprintf("value number %08d", f(i)))}
	}
	return rows
}

// pageCounts is how many data pages of the file have a dictionary's indices, and how many plain values.
func pageCounts(t *testing.T, data []byte) (indexed, plain int32) {
	t.Helper()
	for _, g := range openFile(t, data).Metadata().RowGroups {
		for _, s := range g.Columns[0].MetaData.EncodingStats {
			switch {
			case s.PageType == format.DictionaryPage:
			case s.Encoding == format.RLEDictionary:
				indexed += s.Count
			default:
				plain += s.Count
			}
		}
	}
	return indexed, plain
}

func TestDictionary(t *testing.T) {
	for _, c := range []struct {
		name           string
		rows           [][]any
		dictionary     int
		indexed, plain bool
	}{
		{"few values", texts(50000, func(i int) int { return i % 10 }), 1 << 20, true, false},
		{"a value", texts(50000, func(int) int { return 1 }), 1 << 20, true, false},
		{"few values, never", texts(5000, func(i int) int { return i % 10 }), 0, false, true},
		{"all different", texts(50000, func(i int) int { return i }), 1 << 20, false, true},
		{"all different, few rows", texts(20, func(i int) int { return i }), 1 << 20, false, true},
		{"same, few rows", texts(20, func(int) int { return 7 }), 1 << 20, true, false},
		{"three quarters different", texts(5000, func(i int) int { return i - i%4/3 }), 1 << 20, false, true},
		{"grows too large", texts(80000, func(i int) int { return i % 5 * (i / 20000) * 1000 * i }), 1 << 14, true, true},
		{"too large at once", texts(300, func(i int) int { return i / 2 }), 64, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, _ := writeFile(t, textSchema(), c.rows, Options{DictionaryBytesMax: c.dictionary}, 1000)
			checkFile(t, textSchema(), c.rows, data)
			indexed, plain := pageCounts(t, data)
			if (indexed > 0) != c.indexed || (plain > 0) != c.plain {
				t.Errorf("%d pages of indices and %d plain, want some: %v, %v", indexed, plain, c.indexed, c.plain)
			}
		})
	}
}

func TestDictionaryIsTriedAgain(t *testing.T) {
	f, err := NewFile(textSchema(), Options{DictionaryBytesMax: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	different, same := texts(500, func(i int) int { return i }), texts(500, func(i int) int { return i % 3 })
	var tries []bool
	for i := range 2 + dictionarySkip {
		rows := same
		if i == 0 {
			rows = different
		}
		data, _ := fillFile(t, f, textSchema(), rows, 100)
		checkFile(t, textSchema(), rows, data)
		indexed, _ := pageCounts(t, data)
		tries = append(tries, indexed > 0)
		f.Reset()
	}
	for i, tried := range tries {
		if want := i == len(tries)-1; tried != want {
			t.Errorf("file %d has a dictionary: %v, want %v", i, tried, want)
		}
	}
}
