package gen

import (
	"strconv"
	"testing"
	"time"
)

func TestTimestamps(t *testing.T) {
	expectText(t, `{{timestamp()}}`, strconv.FormatInt(noon().UnixMilli(), 10))
	expectText(t, `{{timestampSeconds()}}`, strconv.FormatInt(noon().Unix(), 10))
	expectText(t, `{{toTimestamp("12-02-2022 21:01:21", "dd-MM-yyyy HH:mm:ss")}}`, "1644699681000")
	expectText(t, `{{toTimestamp("Sat, 12 Feb 2022 21:01:21 GMT")}}`, "1644699681000")
	expectText(t, `{{toTimestampSeconds("Sat, 12 Feb 2022 21:01:21 GMT")}}`, "1644699681")
	expectText(t, `{{toTimestampSeconds("12-02-2022", "dd-MM-yyyy")}}`, "1644624000")
	expectText(t, `{{toTimestamp(date())}}`, strconv.FormatInt(noon().Unix()*1000, 10))
}

func TestTimestampBetween(t *testing.T) {
	for _, c := range []struct {
		text      string
		low, high int64
	}{
		{`{{timestamp("01-01-2020 00:00:00","01-01-2020 00:00:01")}}`, 1577836800000, 1577836800999},
		{`{{timestampSeconds("01-01-2020 00:00:00","01-01-2020 00:00:03")}}`, 1577836800, 1577836802},
		{`{{timestamp("01-01-2020 00:00:00","01-01-2020 00:00:00")}}`, 1577836800000, 1577836800000},
	} {
		for _, m := range messages(t, c.text, 500) {
			if v, err := strconv.ParseInt(m, 10, 64); err != nil || v < c.low || v > c.high {
				t.Fatalf("%s made %s", c.text, m)
			}
		}
	}
}

func TestDate(t *testing.T) {
	expectText(t, `{{date()}}`, "Sat, 7 Feb 2026 12:34:56 UTC")
	expectText(t, `{{date("yyyy-MM-dd'T'HH:mm:ss.SSSX")}}`, "2026-02-07T12:34:56.789Z")
	expectMatch(t, `{{date("01-03-2020 00:00:00","02-03-2020 00:00:00")}}`, `Sun, 1 Mar 2020 \d\d:\d\d:\d\d UTC`)
	made := expectMatch(t, `{{date("01-03-2020 00:00:00","05-03-2020 00:00:00","yyyy-MM-dd")}}`, `2020-03-0[1-4]`)
	if distinct(made) != 4 {
		t.Errorf("%d different days, want 4", distinct(made))
	}
	expectMatch(t, `{{date("2020-03-01","2020-03-03","yyyy-MM-dd","d.M.yy")}}`, `[12]\.3\.20`)
	expectText(t, `{{dateFormat("06-16-1956 12:00:00", "dd-MM-yyyy HH:mm:ss", "EEEEE dd MMMMM yyyy HH:mm:ss.SSSZ")}}`,
		"Saturday 06 April 1957 12:00:00.000+0000")
	expectText(t, `{{dateFormat(date(), concat("EEE, d MMM yyyy HH:mm:ss z"), concat("yyyy"))}}`, "2026")
}

// The clock's own zone does not matter. C62
func TestDateIsUTC(t *testing.T) {
	tokyo := func() time.Time { return noon().In(time.FixedZone("JST", 9*3600)) }
	for _, text := range []string{`{{date()}}`, `{{time("HH")}}`, `{{timestamp()}}`} {
		local, err := Compile(text, Options{Now: tokyo})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(local.Append(nil, local.NewState(0))), messages(t, text, 1)[0]; got != want {
			t.Errorf("%s made %s with a clock in Tokyo, want %s", text, got, want)
		}
	}
}

func TestAdd(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{{addSeconds("dd-MM-yyyy HH:mm:ss", "12-12-2012 12:12:12", 3)}}`, "12-12-2012 12:12:15"},
		{`{{addSeconds("12-12-2012 12:12:12", -3)}}`, "12-12-2012 12:12:09"},
		{`{{addMinutes("12-12-2012 12:12:12", 3)}}`, "12-12-2012 12:15:12"},
		{`{{addMinutes("12-12-2012 12:12:12", 1000000000)}}`, "10-04-3914 22:52:12"},
		{`{{addHours("12-12-2012 12:12:12", 13)}}`, "13-12-2012 01:12:12"},
		{`{{addDays("yyyyMMdd", "20121212", 20)}}`, "20130101"},
		{`{{addWeeks("12-12-2012 12:12:12", 3)}}`, "02-01-2013 12:12:12"},
		{`{{addMonths("12-12-2012 12:12:12", 3)}}`, "12-03-2013 12:12:12"},
		{`{{addMonths("31-01-2012 12:12:12", 1)}}`, "29-02-2012 12:12:12"},
		{`{{addMonths("31-03-2012 12:12:12", -1)}}`, "29-02-2012 12:12:12"},
		{`{{addYears("29-02-2012 12:12:12", 1)}}`, "28-02-2013 12:12:12"},
		{`{{addYears("12-12-2012 12:12:12", -3)}}`, "12-12-2009 12:12:12"},
		{`{{addDays(date("dd-MM-yyyy HH:mm:ss"), integer(1,2))}}`, "08-02-2026 12:34:56"},
	} {
		expectText(t, c.text, c.want)
	}
}

func TestTime(t *testing.T) {
	expectText(t, `{{time()}}`, "12:34 PM")
	expectText(t, `{{time("HH:mm:ss.SSS S n")}}`, "12:34:56.789 7 789000000")
	expectText(t, `{{time("h 'o''clock' a[ k]")}}`, "12 o'clock PM 12")
	expectMatch(t, `{{time("6:05PM", "6:07PM", "HH:mm:ss")}}`, `18:0[56]:[0-5]\d`)
	expectMatch(t, `{{time("6 am", "7am")}}`, `6:[0-5]\d AM`)
	expectMatch(t, `{{time("12AM", "12:01 AM", "H:mm")}}`, `0:00`)
	for text, want := range map[string]string{
		`{{time("yyyy")}}`: "unknown letter y", `{{time("{H}")}}`: "reserved",
		`{{time("6PM","5PM")}}`:     "after the start",
		`{{time("18:00","19:00")}}`: "not a time of day", `{{time("13PM","5PM")}}`: "not a time of day",
		`{{time("6:5PM","7PM")}}`: "not a time of day", `{{time("6:60PM","7PM")}}`: "not a time of day",
	} {
		expectError(t, text, want)
	}
}
