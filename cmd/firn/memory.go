package main

import (
	"math"
	"os"
	"runtime/debug"

	"firn/internal/job"
	"firn/internal/wire"
)

// collectPercent is how much garbage there may be for the bytes in use. Most of a job's memory is buffers that have no
// pointers and are used again, so that a collection costs little. With less garbage fewer pages go back to the system
// and are faulted in again: a tenth fewer faults than with Go's 100, a quarter fewer than with none but the limit.
const collectPercent = 50

// limitMemory has the garbage collector keep a process within limits.memory, until the function returned is called.
// What GOMEMLIMIT and GOGC set holds in its place.
func limitMemory(memory job.ByteSize) (restore func()) {
	restore = func() {}
	const ask = -1
	if debug.SetMemoryLimit(ask) != math.MaxInt64 {
		return restore
	}
	debug.SetMemoryLimit(wire.HeapBytes(memory))
	if os.Getenv("GOGC") != "" {
		return func() { debug.SetMemoryLimit(math.MaxInt64) }
	}
	percent := debug.SetGCPercent(collectPercent)
	return func() {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(percent)
	}
}
