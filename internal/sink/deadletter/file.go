package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"firn/internal/record"
)

// File keeps dead letters as JSON Lines, appended to a file that only its owner may read: the records are data. It is
// safe for concurrent use.
//
// A file that was renamed or removed while it is open is made anew at the next Write, so that log rotation works.
type File struct {
	path string
	job  string
	log  *slog.Logger

	mu     sync.Mutex // guards the fields below
	file   *os.File
	broken error // of a sync: what was written may be lost, and a second sync would not tell
	closed bool
}

// ErrFileInUse is that another process writes the file.
var ErrFileInUse = errors.New("another process writes dead letters to it")

// OpenFile opens or makes the file. A last line that a crash cut short is cut off: it was never flushed, so the
// position behind its record was not committed, and the record will be rejected again. A last line that firn did not
// write is kept and ended with a line break. Only one process may have the file open; the error of a second wraps
// ErrFileInUse. A nil log discards.
func OpenFile(path, job string, log *slog.Logger) (*File, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	f := &File{path: path, job: job, log: log}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("opening dead letter file %s: %w", path, err)
	}
	return f, nil
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.prepare(file); err != nil {
		return errors.Join(err, file.Close())
	}
	f.file = file
	return nil
}

func (f *File) prepare(file *os.File) error {
	if err := lock(file); err != nil {
		return err
	}
	if err := f.repair(file); err != nil {
		return err
	}
	// The name of a new file is durable only with its directory.
	directory, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(directory), directory.Close())
}

// repair makes the file end with a line break.
func (f *File) repair(file *os.File) error {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return err
	}
	start, torn, err := lastLine(file, end)
	switch {
	case err != nil:
		return err
	case len(torn) == 0:
		return nil
	case isTorn(torn):
		f.log.Warn("cutting off the last line of the dead letter file, which a crash cut short",
			"file", f.path, "bytes", end-start)
		return file.Truncate(start)
	default:
		_, err := file.Write([]byte("\n"))
		return err
	}
}

// isTorn says whether bytes without a line break are the beginning of a line of ours.
func isTorn(b []byte) bool {
	n := min(len(b), len(linePrefix))
	return string(b[:n]) == linePrefix[:n]
}

// lastLine finds what follows the last line break: where it starts, and its first bytes, enough for isTorn.
func lastLine(file *os.File, end int64) (start int64, head []byte, err error) {
	const chunkBytes = 64 << 10
	buffer := make([]byte, chunkBytes)
	for start = end; start > 0; {
		from := max(0, start-chunkBytes)
		chunk := buffer[:start-from]
		if _, err := file.ReadAt(chunk, from); err != nil {
			return 0, nil, err
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			start = from + int64(i) + 1
			break
		}
		start = from
	}
	head = make([]byte, min(end-start, int64(len(linePrefix))))
	_, err = file.ReadAt(head, start)
	return start, head, err
}

// Write appends the rejected records. They are durable after Flush. After an error none of them is in the file.
func (f *File) Write(_ context.Context, rejected []record.Rejected) error {
	var lines []byte
	now := time.Now()
	for _, r := range rejected {
		var err error
		if lines, err = appendLine(lines, Letter{Rejected: r, Job: f.job, Time: now}); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.append(lines); err != nil {
		return fmt.Errorf("writing dead letters to %s: %w", f.path, err)
	}
	return nil
}

func (f *File) append(lines []byte) error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.broken != nil:
		return f.broken
	case len(lines) == 0:
		return nil
	}
	if err := f.follow(); err != nil {
		return err
	}
	end, err := f.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.file.Write(lines); err != nil {
		return errors.Join(err, f.file.Truncate(end)) // a full disk may have taken half a line
	}
	return nil
}

// follow opens the path anew when the open file is not there any more.
func (f *File) follow() error {
	mine, err := f.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(f.path)
	if err == nil && os.SameFile(mine, there) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.log.Info("dead letter file was moved away, making it anew", "file", f.path)
	old := f.file
	if err := f.sync(); err != nil { // letters of the old file that were not flushed yet
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	return old.Close()
}

// Flush returns nil when all that was written is on disk. An error of it is final: the system may have dropped what
// it could not write.
func (f *File) Flush(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fmt.Errorf("flushing dead letter file %s: %w", f.path, fs.ErrClosed)
	}
	if err := f.sync(); err != nil {
		return fmt.Errorf("flushing dead letter file %s: %w", f.path, err)
	}
	return nil
}

func (f *File) sync() error {
	if f.broken == nil {
		f.broken = f.file.Sync()
	}
	return f.broken
}

// Close closes the file without flushing it. It may be called twice.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if err := f.file.Close(); err != nil {
		return fmt.Errorf("closing dead letter file %s: %w", f.path, err)
	}
	return nil
}
