//go:build !race

package decode

// underRace tells that the race detector is on, which makes the decoder many times slower.
const underRace = false
