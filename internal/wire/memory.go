package wire

import "firn/internal/job"

// What a process takes beside its data, as measured.
const (
	programBytes = 80 << 20 // that Go does not manage, and what the collector exceeds its limit by between two looks
	encoderBytes = 48 << 20 // on the heap: encoders, connections, the table's metadata
)

// DataBytes is the part of limits.memory that is for data: the whole process stays near the limit then. Below twice
// what it takes beside, half of the limit is for data and the process takes more, since with less a job hardly moves.
func DataBytes(memory job.ByteSize) int64 {
	return max(int64(memory)-programBytes-encoderBytes, int64(memory)/2)
}

// HeapBytes is what the garbage collector keeps a job within.
func HeapBytes(memory job.ByteSize) int64 { return DataBytes(memory) + encoderBytes }

// The shares of DataBytes that are not the pipeline's (see pipeline.Config.MemoryBytesMax).
const (
	fetchShare = 8  // of fetched records, before the pipeline's queue
	idleShare  = 8  // of idle buffers of the encoders
	sealShare  = 16 // of files that are being stored
)
