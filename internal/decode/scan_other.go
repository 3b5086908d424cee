//go:build !amd64

package decode

// scan is scanWords, or faster with the same result.
func scan(b []byte, p int) (i int, high uint64) { return scanWords(b, p) }
