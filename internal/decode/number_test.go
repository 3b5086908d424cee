package decode

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"firn/internal/record"
)

// rounds is how often a test of random values goes round: a tenth where each round takes ten times as long.
func rounds(n int) int {
	if underRace {
		return n / 10
	}
	return n
}

// randomDigits are n digits, zeros and nines more often than others.
func randomDigits(r *rand.Rand, n int) string {
	var s strings.Builder
	for range n {
		s.WriteByte("0123456789009900"[r.IntN(16)])
	}
	return s.String()
}

// Numbers of any number of digits on both sides of the point are read as the model reads them, whatever follows.
func TestNumbersAreReadAsTheModelDoes(t *testing.T) {
	s := &record.Schema{Fields: []record.Field{
		of("i", record.KindInt), of("l", record.KindLong), of("f", record.KindFloat), of("d", record.KindDouble),
		decimalOf("n", 9, 2), decimalOf("n18", 18, 7), decimalOf("n38", 38, 10), of("ts", record.KindTimestamp),
	}}
	d, batch := newJSON(t, s, nil), record.NewBatch(s)
	r, taken, refused := rand.New(rand.NewPCG(7, 8)), 0, 0
	const bytesBeside = "0123456789:/.-+eE"
	read := func(text string) {
		for _, f := range s.Fields {
			after := []string{"", " ", `,"x":0`, ` , "and":"so on and on and on"`}[r.IntN(4)]
			in := fmt.Sprintf(`{"%s":%s%s}`, f.Name, text, after)
			want, why := modelNumber(text, f.Type)
			got := decodeOne(t, d, batch, in)
			switch {
			case why == "" && got == f.Name+"="+want:
				taken++
			case why != "" && strings.HasPrefix(got, "!"):
				refused++
			default:
				t.Errorf("%s: got %s, the model has %s %s", in, got, want, why)
			}
		}
	}
	for range rounds(3000) {
		text := []string{"", "-"}[r.IntN(2)] + strings.TrimLeft(randomDigits(r, r.IntN(23)), "0") + strconv.Itoa(r.IntN(10))
		read(text)
		read(text + "." + randomDigits(r, r.IntN(20)))
		read(text + "." + randomDigits(r, 1+r.IntN(8)) + fmt.Sprintf("%s%s%d", []string{"e", "E"}[r.IntN(2)],
			[]string{"", "+", "-"}[r.IntN(3)], r.IntN(40)))
		at := r.IntN(len(text))
		read(text[:at] + string(bytesBeside[r.IntN(len(bytesBeside))]) + text[at+1:])
	}
	if taken < rounds(1000) || refused < rounds(1000) {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}
