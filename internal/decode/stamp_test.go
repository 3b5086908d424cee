package decode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"firn/internal/record"
)

// Timestamps with any byte changed, and with any number of digits, are read as the model reads them, close to the end
// of the record and far from it, after any other date.
func TestStampsAreReadAsTheModelDoes(t *testing.T) {
	kinds := []record.Kind{record.KindTimestamp, record.KindTimestampTZ, record.KindTimestampNs, record.KindTimestampTZNs}
	s := &record.Schema{}
	for _, k := range kinds {
		s.Fields = append(s.Fields, of(k.String(), k))
	}
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	r, taken, refused := rand.New(rand.NewPCG(5, 6)), 0, 0
	const bytesBeside = "0123456789:;/.-TtZ +\x7f"
	read := func(text string) {
		for _, k := range kinds {
			in := fmt.Sprintf(`{"%s":"%s"%s}`, k, text, []string{"", `,"and":"so on and on and on"`}[r.IntN(2)])
			want, why := modelTime(text, k)
			got := decodeOne(t, d, batch, in)
			switch {
			case why == "" && got == k.String()+"="+want:
				taken++
			case why != "" && strings.HasPrefix(got, "!field "+k.String()+" at byte "):
				refused++
			default:
				t.Errorf("%s: got %s, the model has %s %s", in, got, want, why)
			}
		}
	}
	for range rounds(3000) {
		text := fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d", []int{r.IntN(10000), 2026}[r.IntN(2)], r.IntN(14), r.IntN(33),
			r.IntN(26), r.IntN(62), r.IntN(62))
		if n := r.IntN(12); n > 0 {
			text += "." + fmt.Sprintf("%011d", r.Int64N(1e11))[:n-1] + []string{"", "0", "000"}[r.IntN(3)]
		}
		text += []string{"", "Z", "z", "+01:00", "-00:30"}[r.IntN(5)]
		read(text)
		at := r.IntN(len(text))
		read(text[:at] + string(bytesBeside[r.IntN(len(bytesBeside))]) + text[at+1:])
	}
	for _, text := range []string{"2026-11-29T12:34:56.789Z", "2026-02-28T00:00:00.1234567"} {
		for at := range len(text) {
			for c := ' '; c < 0x7f; c++ {
				if c != '"' && c != '\\' {
					read(text[:at] + string(c) + text[at+1:])
				}
			}
		}
	}
	if least := rounds(1000); taken < least || refused < least {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}

// The date that a decoder remembers at first is none of zero bytes.
func TestStampOfZeroBytesIsRefused(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{of("tz", record.KindTimestampTZ)}}
	in := `{"tz":"` + strings.Repeat("\x00", 10) + `T12:34:56Z","and":"so on and on"}`
	got := decodeOne(t, newJSON(t, s, nil), record.NewBatch(s), in)
	if want := "!field tz at byte 7: raw control character in a string"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
