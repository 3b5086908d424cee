package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// lines prints to a writer and keeps the first error, to be looked at once.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) printf(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
