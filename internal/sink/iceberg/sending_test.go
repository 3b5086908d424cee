package iceberg

import (
	"context"
	"errors"
	"testing"
)

// atOnce is how many files of a size may be stored at once.
func atOnce(bytesMax, fileBytes int64) (n int) {
	s := newSending(bytesMax)
	for s.free.TryAcquire(s.room(fileBytes)) {
		n++
	}
	return n
}

func TestSmallFilesAreStoredAtOnceAndLargeOnesByTwos(t *testing.T) {
	for _, c := range []struct {
		bytesMax, fileBytes int64
		want                int
	}{{100, 10, 10}, {100, 33, 3}, {100, 50, 2}, {100, 51, 2}, {100, 1 << 40, 2}, {0, 1 << 40, 2}, {100, 0, 100}} {
		if got := atOnce(c.bytesMax, c.fileBytes); got != c.want {
			t.Errorf("%d bytes in files of %d: %d at once, want %d", c.bytesMax, c.fileBytes, got, c.want)
		}
	}
}

func TestRoomComesBack(t *testing.T) {
	s := newSending(100)
	for range 1000 {
		done, err := s.begin(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
}

func TestWaitForRoomEndsWithTheContext(t *testing.T) {
	s := newSending(100)
	for range 2 {
		if _, err := s.begin(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.begin(ended, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
