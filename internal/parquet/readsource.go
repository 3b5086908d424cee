package parquet

import (
	"errors"
	"fmt"
	"io"
)

// pageSource reads a stretch of a file's pages from front to back through a window. Bytes are kept, which writes them
// to out as they are, or taken. What is kept is written in runs as long as the window.
type pageSource struct {
	file io.ReaderAt
	out  io.Writer
	pool *Pool

	window      []byte
	windowBytes int   // how much one read asks for at least
	from        int   // the next byte in the window
	kept        int   // window[kept:from] is to be written
	at          int64 // in the file, where the window ends
	end         int64 // in the file, where the stretch ends
}

const (
	// sourceWindowBytes is what one read asks for: a request to an object store costs as much as some MB.
	sourceWindowBytes = 4 << 20
	// headBytes is more than nearly all page headers have, and headBytesMax more than any sensible one: they may hold
	// the smallest and the largest value.
	headBytes    = 1 << 10
	headBytesMax = 16 << 20
)

// open begins with a stretch of bytes of a file.
func (s *pageSource) open(file io.ReaderAt, from, size int64) {
	s.file, s.windowBytes = file, sourceWindowBytes
	s.window, s.from, s.kept = s.window[:0], 0, 0
	s.at, s.end = from, from+size
}

// left is the bytes of the stretch that were neither kept nor taken.
func (s *pageSource) left() int64 { return s.end - s.at + int64(len(s.window)-s.from) }

// offset is where in the file the next byte is.
func (s *pageSource) offset() int64 { return s.at - int64(len(s.window)-s.from) }

// need has the window hold the next n bytes.
func (s *pageSource) need(n int) error {
	have := len(s.window) - s.from
	if have >= n {
		return nil
	}
	if int64(n) > s.left() {
		return errCut
	}
	if err := s.flush(); err != nil {
		return err
	}
	target := int(min(s.left(), max(int64(n), int64(s.windowBytes))))
	if cap(s.window) < target {
		window := append(s.pool.get(target), s.window[s.from:]...)
		s.pool.put(s.window)
		s.window = window
	} else {
		s.window = s.window[:copy(s.window[:have], s.window[s.from:])]
	}
	s.from, s.kept = 0, 0
	s.window = s.window[:target]
	if err := readFullAt(s.file, s.window[have:], s.at); err != nil {
		s.window = s.window[:have]
		return err
	}
	s.at += int64(target - have)
	return nil
}

// flush writes what is kept.
func (s *pageSource) flush() error {
	if s.kept == s.from {
		return nil
	}
	_, err := s.out.Write(s.window[s.kept:s.from])
	s.kept = s.from
	return err
}

// keep writes the next n bytes as they are.
func (s *pageSource) keep(n int) error {
	if int64(n) > s.left() {
		return errCut
	}
	for n > 0 {
		if s.from == len(s.window) {
			if err := s.need(1); err != nil {
				return err
			}
		}
		k := min(n, len(s.window)-s.from)
		s.from += k
		n -= k
	}
	return nil
}

// peek returns the next n bytes, which are neither kept nor taken. They are good until the next call.
func (s *pageSource) peek(n int) ([]byte, error) {
	if n > pageReadBytesMax {
		return nil, fmt.Errorf("a page of %d bytes is more than the %d that are read at once", n, pageReadBytesMax)
	}
	if err := s.need(n); err != nil {
		return nil, err
	}
	return s.window[s.from : s.from+n], nil
}

// take returns the next n bytes, which are not written. They are good until the next call.
func (s *pageSource) take(n int) ([]byte, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	b, err := s.peek(n)
	if err != nil {
		return nil, err
	}
	s.from += n
	s.kept = s.from
	return b, nil
}

// head reads the page header that comes next, which is neither kept nor taken. Its bounds are copies.
func (s *pageSource) head() (pageHead, error) {
	if err := s.need(int(min(headBytes, s.left()))); err != nil {
		return pageHead{}, err
	}
	h, err := parsePageHead(s.window[s.from:])
	if errors.Is(err, errCut) && int64(len(s.window)-s.from) < s.left() {
		if err := s.need(int(min(headBytesMax, s.left()))); err != nil {
			return pageHead{}, err
		}
		h, err = parsePageHead(s.window[s.from:])
	}
	if err != nil {
		return h, fmt.Errorf("the page header at byte %d: %w", s.offset(), err)
	}
	if int64(h.size)+int64(h.compressed) > s.left() {
		return h, fmt.Errorf("the page at byte %d is said to have %d bytes, %d are left in its column chunk",
			s.offset(), h.compressed, s.left()-int64(h.size))
	}
	h.statistics = h.statistics.clone()
	return h, nil
}

// close gives the window back.
func (s *pageSource) close() {
	s.pool.put(s.window)
	s.window = nil
}
