package bigquery

import (
	"testing"
	"time"
)

// Every day that BigQuery has is the one that the time package says.
func TestCivilDates(t *testing.T) {
	at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for days := int64(firstDay); days <= lastDay; days++ {
		year, month, day := civilDate(days)
		wantYear, wantMonth, wantDay := at.Date()
		if year != int64(wantYear) || month != int64(wantMonth) || day != int64(wantDay) {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, year, month, day, at)
		}
		at = at.AddDate(0, 0, 1)
	}
	if at.Year() != 10000 {
		t.Errorf("the last day is before %s", at)
	}
}

// The bits are those that the API documents for TIME and DATETIME.
func TestCivilTimes(t *testing.T) {
	if got := civilTime(((12*60+34)*60+56)*1_000_000 + 789_012); got != 12<<32|34<<26|56<<20|789_012 {
		t.Errorf("%x", got)
	}
	for at, want := range map[int64]uint64{
		0:          1970<<46 | 1<<42 | 1<<37,
		-1:         1969<<46 | 12<<42 | 31<<37 | 23<<32 | 59<<26 | 59<<20 | 999_999,
		firstMicro: 1<<46 | 1<<42 | 1<<37,
		lastMicro:  9999<<46 | 12<<42 | 31<<37 | 23<<32 | 59<<26 | 59<<20 | 999_999,
	} {
		if got := civilDatetime(at); got != want {
			t.Errorf("%d: %x, want %x", at, got, want)
		}
	}
}
