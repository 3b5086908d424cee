package wire

import "firn/internal/job"

// ProgramBytes is what a process takes beside the memory that Go manages for it, as measured: the program's own pages,
// and what the collector exceeds its limit by between two looks (60 to 80 MB).
const ProgramBytes = 80 << 20

// DataBytes is the part of limits.memory that is for data: the whole process stays within the limit then. Below twice
// ProgramBytes half of the limit is for data and the process takes more, since with less a job hardly moves.
func DataBytes(memory job.ByteSize) int64 {
	return max(int64(memory)-ProgramBytes, int64(memory)/2)
}

// The shares of DataBytes that are not the pipeline's (see pipeline.Config.MemoryBytesMax).
const (
	fetchShare = 8  // of fetched records, before the pipeline's queue
	idleShare  = 8  // of idle buffers of the encoders
	sealShare  = 16 // of files that are being stored
)
