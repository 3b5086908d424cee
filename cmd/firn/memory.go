package main

import (
	"math"
	"runtime/debug"
)

// memoryBase is what a job has on the heap beside its data (encoders of zstd, connections, the table's metadata), and
// room for the collector at small limits: with half of it, 64 MiB took half as much CPU again.
const memoryBase = 64 << 20

// limitMemory asks the garbage collector to keep a job near its memory limit, until the function returned is called.
// The collector does not see the program itself, so that a process takes the limit and 135 MB at most, as measured. A
// limit that was set before, by GOMEMLIMIT, holds in its place.
func limitMemory(bytes int64) (restore func()) {
	const ask = -1
	if debug.SetMemoryLimit(ask) != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(bytes + memoryBase)
	return func() { debug.SetMemoryLimit(math.MaxInt64) }
}
