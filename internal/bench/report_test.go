package bench

import (
	"bytes"
	"errors"
	"testing"
)

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out, example()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", out.String())
}

func TestPrintOfABusyMachine(t *testing.T) {
	load := 7.5
	results := example()[:1]
	results[0].LoadAtStart = &load
	var out bytes.Buffer
	if err := Print(&out, results); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out.Bytes(), []byte("load average at the start 7.5: the machine was busy")) {
		t.Errorf("it does not say so:\n%s", &out)
	}
}

// TestPrintPairs: the ratios of a round are shown, not only their median.
func TestPrintPairs(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out, charted(0)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ratio_best_rival_bucket64, round by round: 5.00x 5.00x 5.00x\n", "  least  most "} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("%q is not in:\n%s", want, &out)
		}
	}
}

func TestPrintNothing(t *testing.T) {
	var out bytes.Buffer
	if err := Print(&out, nil); err != nil {
		t.Fatal(err)
	}
}

// full is a place where nothing can be written.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestPrintTellsThatItFailed(t *testing.T) {
	if err := Print(full{}, example()); err == nil {
		t.Error("no error")
	}
}
