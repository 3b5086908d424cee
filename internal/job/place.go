package job

import "strings"

// place is where a key of the job file stands, both from 1.
type place struct {
	line, column int
}

// places finds keys by their dotted path: source.kafka.topics, source.kafka.topics[1], sink.iceberg.properties.KEY.
type places map[string]place

// find gives the place of a path or, when the file does not have it, of the nearest parent that it does have.
func (p places) find(path string) place {
	for path != "" {
		if at, ok := p[path]; ok {
			return at
		}
		path = parentPath(path)
	}
	return place{line: 1, column: 1}
}

// parentPath is the path without its last key or index. A key of a map may hold dots itself, so a parent may be a path
// that no file has; find passes over those.
func parentPath(path string) string {
	return path[:max(strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['), 0)]
}

// locate fills in where the faults are.
func (p places) locate(file string, faults Faults) Faults {
	for i := range faults {
		at := p.find(faults[i].Path)
		faults[i].File, faults[i].Line, faults[i].Column = file, at.line, at.column
	}
	return faults
}
