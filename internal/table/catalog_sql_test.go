package table

import "testing"

// A look at a catalog in a file that is not there does not make it.
func TestMissingCatalog(t *testing.T) {
	config := sqlConfig(t)
	mustBe := func(want bool) {
		t.Helper()
		if missing, err := config.Missing(); err != nil || missing != want {
			t.Errorf("missing %t, want %t; error %v", missing, want, err)
		}
	}
	mustBe(true)
	mustBe(true)
	openCatalog(t, config)
	mustBe(false)
	config.URI = ":memory:"
	if _, err := config.Missing(); err == nil {
		t.Error("no error for a catalog in memory")
	}
	config.Type, config.URI = "rest", "http://localhost"
	mustBe(false)
}
