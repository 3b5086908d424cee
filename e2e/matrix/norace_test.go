//go:build !race

package matrix

const slow = false
