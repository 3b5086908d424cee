package metric

import "time"

// RollupWork is the work of one join of small files, whether it succeeded or not.
type RollupWork struct {
	Duration                       time.Duration
	PagesCopied, BytesCopied       int64 // taken over as they were
	PagesReencoded, BytesReencoded int64 // decoded and encoded again
}

// rollups sums up the joining of small files. It is guarded by the job's lock.
type rollups struct {
	done, filesIn             int64
	stale, failures           int64
	work                      RollupWork // but for its duration
	seconds                   buckets    // of joins, in microseconds
	sizes                     buckets    // of the files made
	memoryRead                int64      // bytes of files joined, by where they were read
	diskRead, storeRead       int64
	pendingFiles, pendingByte int64
	oldest                    time.Time // since when the oldest pending file waits; zero: none does
	keptMemory, keptDisk      int64
}

func newRollups() rollups {
	return rollups{seconds: newBuckets(commitBounds()), sizes: newBuckets(fileBounds())}
}

// RolledUp counts one replacement of small files by a large one that is in the table.
func (j *Job) RolledUp(filesIn int, fileBytes int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rollups.done++
	j.rollups.filesIn += int64(filesIn)
	j.rollups.sizes.add(fileBytes)
}

// RollupWorked adds the work of one join.
func (j *Job) RollupWorked(w RollupWork) {
	j.mu.Lock()
	defer j.mu.Unlock()
	sum := &j.rollups.work
	j.rollups.seconds.add(w.Duration.Microseconds())
	sum.PagesCopied += w.PagesCopied
	sum.BytesCopied += w.BytesCopied
	sum.PagesReencoded += w.PagesReencoded
	sum.BytesReencoded += w.BytesReencoded
}

// RollupRead adds bytes of files that are joined, by where they were read.
func (j *Job) RollupRead(memory, disk, store int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rollups.memoryRead += memory
	j.rollups.diskRead += disk
	j.rollups.storeRead += store
}

// RollupStale counts one replacement that no longer fitted the table.
func (j *Job) RollupStale() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rollups.stale++
}

// RollupFailed counts one failure on the way of a roll-up, which is tried again.
func (j *Job) RollupFailed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rollups.failures++
}

// RollupPending sets which files wait to be joined for the first time, and since when the oldest does; zero is none.
func (j *Job) RollupPending(files, bytes int64, oldest time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rollups.pendingFiles, j.rollups.pendingByte, j.rollups.oldest = files, bytes, oldest
}

// RollupKept sets how many bytes of small files are kept in memory and on the local disk until they are joined.
func (j *Job) RollupKept(memory, disk int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rollups.keptMemory, j.rollups.keptDisk = memory, disk
}

// Rollups sums up the joining of small files into large ones.
type Rollups struct {
	Count                int64    `json:"count"` // files made that are in the table
	FilesIn              int64    `json:"files_in"`
	FileBytes            []Bucket `json:"file_bytes"` // sizes of the files made, as a histogram
	Stale                int64    `json:"stale"`      // made in vain: what they were made from changed
	Failures             int64    `json:"failures"`
	Seconds              float64  `json:"seconds"` // of work
	CopiedBytes          int64    `json:"copied_bytes"`
	CopiedPages          int64    `json:"copied_pages"`
	ReencodedBytes       int64    `json:"reencoded_bytes"`
	ReencodedPages       int64    `json:"reencoded_pages"`
	MemoryReadBytes      int64    `json:"memory_read_bytes"`
	DiskReadBytes        int64    `json:"disk_read_bytes"`
	StoreReadBytes       int64    `json:"store_read_bytes"`
	PendingFiles         int64    `json:"pending_files"`
	PendingBytes         int64    `json:"pending_bytes"`
	OldestPendingSeconds float64  `json:"oldest_pending_seconds"`
	KeptMemoryBytes      int64    `json:"kept_memory_bytes"`
	KeptDiskBytes        int64    `json:"kept_disk_bytes"`
}

func (r *rollups) summary(now time.Time) Rollups {
	s := Rollups{
		Count: r.done, FilesIn: r.filesIn, FileBytes: r.sizes.list(), Stale: r.stale, Failures: r.failures,
		Seconds: r.seconds.sum / 1e6, CopiedBytes: r.work.BytesCopied, CopiedPages: r.work.PagesCopied,
		ReencodedBytes: r.work.BytesReencoded, ReencodedPages: r.work.PagesReencoded,
		MemoryReadBytes: r.memoryRead, DiskReadBytes: r.diskRead, StoreReadBytes: r.storeRead,
		PendingFiles: r.pendingFiles, PendingBytes: r.pendingByte,
		KeptMemoryBytes: r.keptMemory, KeptDiskBytes: r.keptDisk,
	}
	if !r.oldest.IsZero() {
		s.OldestPendingSeconds = max(0, now.Sub(r.oldest).Seconds())
	}
	return s
}

func describeRollups(add func(name, help string, labels ...string)) {
	add("firn_rollup_done_total", "Files joined from small ones that are in the table.")
	add("firn_rollup_files_in_total", "Small files that they replaced.")
	add("firn_rollup_file_bytes", "Sizes of the files joined from small ones.")
	add("firn_rollup_stale_total", "Joins in vain: another writer changed the files that were joined.")
	add("firn_rollup_failures_total", "Failures of joins, which are tried again.")
	add("firn_rollup_seconds", "Time of a join.")
	add("firn_rollup_pages_total", "Pages of joined files, by whether they were copied or encoded again.", "how")
	add("firn_rollup_bytes_total", "Bytes of joined files, by whether they were copied or encoded again.", "how")
	add("firn_rollup_read_bytes_total", "Bytes of small files that were joined, by where they were read.", "from")
	add("firn_rollup_pending_files", "Small files not joined yet.")
	add("firn_rollup_pending_bytes", "Bytes of small files not joined yet.")
	add("firn_rollup_oldest_pending_seconds", "Age of the oldest small file not joined yet; 0 when there is none.")
	add("firn_rollup_kept_bytes", "Bytes of small files kept until they are joined.", "in")
}

func collectRollups(s Rollups, count func(string, int64, ...string), gauge func(string, float64, ...string)) {
	count("firn_rollup_done_total", s.Count)
	count("firn_rollup_files_in_total", s.FilesIn)
	count("firn_rollup_stale_total", s.Stale)
	count("firn_rollup_failures_total", s.Failures)
	count("firn_rollup_pages_total", s.CopiedPages, "copied")
	count("firn_rollup_pages_total", s.ReencodedPages, "reencoded")
	count("firn_rollup_bytes_total", s.CopiedBytes, "copied")
	count("firn_rollup_bytes_total", s.ReencodedBytes, "reencoded")
	count("firn_rollup_read_bytes_total", s.MemoryReadBytes, "memory")
	count("firn_rollup_read_bytes_total", s.DiskReadBytes, "disk")
	count("firn_rollup_read_bytes_total", s.StoreReadBytes, "store")
	gauge("firn_rollup_pending_files", float64(s.PendingFiles))
	gauge("firn_rollup_pending_bytes", float64(s.PendingBytes))
	gauge("firn_rollup_oldest_pending_seconds", s.OldestPendingSeconds)
	gauge("firn_rollup_kept_bytes", float64(s.KeptMemoryBytes), "memory")
	gauge("firn_rollup_kept_bytes", float64(s.KeptDiskBytes), "disk")
}
