package job

import "fmt"

// Columns narrows the names of a schema's top-level columns by Keep and Drop, in the schema's order. It fails when one
// of them names no column, so that a misspelt name is not a silent no-op, and when nothing is left.
func (d *Decode) Columns(names []string) ([]string, error) {
	chosen := make(map[string]bool, len(names))
	for _, name := range names {
		chosen[name] = len(d.Keep) == 0
	}
	for _, list := range [][]string{d.Keep, d.Drop} {
		for _, name := range list {
			if _, known := chosen[name]; !known {
				return nil, fmt.Errorf("choosing columns: the schema has no column %q", name)
			}
		}
	}
	for _, name := range d.Keep {
		chosen[name] = true
	}
	for _, name := range d.Drop {
		chosen[name] = false
	}
	var kept []string
	for _, name := range names {
		if chosen[name] {
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("choosing columns: none of %d is left", len(names))
	}
	return kept, nil
}
