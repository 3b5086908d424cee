//go:build !amd64

package prefetch

// Bytes does nothing here.
func Bytes([]byte) {}
