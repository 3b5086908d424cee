package main

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	mustBe := func(want int64) {
		t.Helper()
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("limit %d, want %d", got, want)
		}
	}
	restore := limitMemory(512 << 20)
	mustBe(576 << 20)
	restore()
	mustBe(math.MaxInt64)

	const environment = 1 << 30 // as GOMEMLIMIT sets it
	debug.SetMemoryLimit(environment)
	restore = limitMemory(512 << 20)
	mustBe(environment)
	restore()
	mustBe(environment)
}
