package main

import (
	"math"
	"runtime/debug"
	"testing"

	"firn/internal/wire"
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
	mustBe(wire.HeapBytes(512 << 20))
	restore()
	mustBe(math.MaxInt64)

	const environment = 1 << 30 // as GOMEMLIMIT sets it
	debug.SetMemoryLimit(environment)
	restore = limitMemory(512 << 20)
	mustBe(environment)
	restore()
	mustBe(environment)
}

func TestCollectPercent(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	mustBe := func(want int) {
		t.Helper()
		got := debug.SetGCPercent(want)
		if got != want {
			t.Errorf("%d percent, want %d", got, want)
		}
	}
	own := debug.SetGCPercent(80)
	defer debug.SetGCPercent(own)
	t.Setenv("GOGC", "")
	restore := limitMemory(512 << 20)
	mustBe(collectPercent)
	restore()
	mustBe(80)

	t.Setenv("GOGC", "80")
	restore = limitMemory(512 << 20)
	mustBe(80)
	restore()
	mustBe(80)
}
