package job

import "testing"

func TestRedacted(t *testing.T) {
	for uri, want := range map[string]string{
		"":                          "",
		"catalog.db":                "catalog.db",
		"a@b//c":                    "a@b//c",
		"https://h:1/x?y=z":         "https://h:1/x?y=z",
		"https://u@h/":              "https://u@h/",
		"https://u:p@h/":            "https://u:xxxxx@h/",
		"https://u:p%zz/q@r@h:1/x":  "https://xxxxx@h:1/x",
		"https://u:p{}@h:1/x":       "https://xxxxx@h:1/x",
		"https://u:p@h:not-a-port/": "https://xxxxx@h:not-a-port/",
	} {
		if got := redacted(uri); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
}
