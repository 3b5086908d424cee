package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a job, in the words of the job file.
type Fault struct {
	File   string // job file, or "template NAME"
	Line   int    // of the offending key, or of its parent when the key is missing; from 1; 0 in a template
	Column int    // likewise
	Path   string // dotted path of the key, such as sink.iceberg.table; empty for the file as a whole
	What   string // what is wrong
	Do     string // what to do about it
}

// Error is the fault in two lines: where and what, then what to do.
func (f Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.What)
	if f.Do != "" {
		b.WriteString("\n  do: " + f.Do)
	}
	return b.String()
}

// Faults are all the faults of one job, in the order of the file. It is never returned empty.
type Faults []Fault

// Error prints one fault after the other.
func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i := range f {
		texts[i] = f[i].Error()
	}
	return strings.Join(texts, "\n")
}

// err is nil without faults: an empty Faults in an error would not compare equal to nil.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

func (f Faults) sort() {
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// faultsOf gives back the faults that err holds, or none.
func faultsOf(err error) Faults {
	var faults Faults
	errors.As(err, &faults)
	return faults
}
