package kafka

import (
	"strings"
	"testing"
	"time"
)

func TestConfigRefuses(t *testing.T) {
	f := func(want string, c Config) {
		t.Helper()
		if _, err := New(c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New gave %v, want %q", err, want)
		}
	}
	topics := []string{"orders"}
	f("no topics are named", Config{})
	f(`start "yesterday"`, Config{Topics: topics, Start: "yesterday"})
	f(`isolation "none"`, Config{Topics: topics, Isolation: "none"})
	f(`on_gap "skip"`, Config{Topics: topics, OnGap: "skip"})
}

func TestConfigDefaults(t *testing.T) {
	s, err := Config{Topics: []string{"orders"}}.check()
	if err != nil {
		t.Fatal(err)
	}
	if !s.committed || s.stop || s.start != (startAt{}) || s.FetchBytesMax != 50<<20 || s.BufferBytesMax != 128<<20 {
		t.Errorf("the defaults are %+v", s)
	}
	s, err = Config{Topics: []string{"orders"}, Start: "2026-01-31T08:00:00+01:00"}.check()
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 1, 31, 7, 0, 0, 0, time.UTC); !s.start.time.Equal(want) {
		t.Errorf("the start is %s, want %s", s.start.time, want)
	}
}
