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
