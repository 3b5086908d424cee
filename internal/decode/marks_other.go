//go:build !amd64

package decode

const hasAVX2 = false

// mark makes no marks: strings are scanned when they are met.
func (m *marks) mark([]byte) {}
