//go:build race

package matrix

// slow says that the race detector is in: not every cell is worth its time then.
const slow = true
