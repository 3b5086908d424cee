package job

import (
	"fmt"
	"log/slog"
)

// mask stands in every print of a job where a secret is.
const mask = "[secret]"

// Secret is a text that must not be shown. Every way to print it, in logs, YAML, JSON and fmt verbs, gives [secret], or
// nothing when it is empty; Reveal gives the text.
type Secret string

// Reveal gives the secret itself, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }

// String is [secret], or empty when there is none.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// Format covers every verb of fmt: %x and %q would otherwise print the text itself.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'q' || (verb == 'v' && f.Flag('#')) {
		fmt.Fprintf(f, "%q", s.String())
		return
	}
	_, _ = f.Write([]byte(s.String()))
}

// GoString is what %#v prints.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// LogValue is what log/slog records.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what encoding/json and others write, map keys included.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON is what encoding/json writes.
func (s Secret) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", s.String()), nil }

// MarshalYAML is what a YAML encoder writes.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }
