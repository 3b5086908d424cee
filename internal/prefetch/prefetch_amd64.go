package prefetch

// Bytes asks for the bytes to be in the cache soon. It does not wait, and reads nothing.
//
//go:noescape
func Bytes(b []byte)
