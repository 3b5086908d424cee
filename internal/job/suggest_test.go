package job

import "testing"

func TestNearest(t *testing.T) {
	keys := []string{"commit_interval", "commit_timeout", "topics", "tls"}
	for word, want := range map[string]string{
		"commit_intervall": "commit_interval", "commitTimeout": "commit_timeout", "COMMIT-INTERVAL": "commit_interval",
		"topic": "topics", "tpoics": "topics", "tsl": "tls", "brokers": "", "x": "", "": "",
	} {
		if got := nearest(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
