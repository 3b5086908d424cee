package gen

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// noon is the clock of the tests: a Saturday.
func noon() time.Time { return time.Date(2026, 2, 7, 12, 34, 56, 789_000_000, time.UTC) }

func compile(t *testing.T, text string) *Template {
	t.Helper()
	compiled, err := Compile(text, Options{Seed: 7, Now: noon})
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	return compiled
}

// messages makes n messages of one worker.
func messages(t *testing.T, text string, n int) []string {
	t.Helper()
	compiled := compile(t, text)
	s := compiled.NewState(0)
	made := make([]string, n)
	for i := range made {
		made[i] = string(compiled.Append(nil, s))
	}
	if s.Err() != nil {
		t.Fatalf("%s: %v", text, s.Err())
	}
	return made
}

// expectMatch checks that all of many messages match the pattern, and gives them back.
func expectMatch(t *testing.T, text, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	made := messages(t, text, 500)
	for _, m := range made {
		if !re.MatchString(m) {
			t.Fatalf("%s made %q, which does not match %s", text, m, pattern)
		}
	}
	return made
}

// expectText checks that the template makes this text every time.
func expectText(t *testing.T, text, want string) {
	t.Helper()
	for _, m := range messages(t, text, 3) {
		if m != want {
			t.Errorf("%s made %q, want %q", text, m, want)
		}
	}
}

// expectError checks that the template is refused with a message that holds all parts.
func expectError(t *testing.T, text string, parts ...string) {
	t.Helper()
	_, err := Compile(text, Options{Seed: 7, Now: noon})
	if err == nil {
		t.Errorf("Compile(%s) gave no error, want %q", shorten(text), parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Compile(%s): %q does not hold %q", shorten(text), err, part)
		}
	}
}

// distinct counts the different texts.
func distinct(texts []string) int {
	seen := map[string]bool{}
	for _, s := range texts {
		seen[s] = true
	}
	return len(seen)
}
