package wire

import (
	"testing"

	"firn/internal/job"
)

func TestDataBytes(t *testing.T) {
	for _, c := range []struct {
		memory job.ByteSize
		want   int64
	}{
		{32 << 20, 16 << 20}, {128 << 20, 64 << 20}, {256 << 20, 128 << 20}, {512 << 20, 384 << 20},
		{1 << 30, 896 << 20}, {1 << 40, 1<<40 - 128<<20},
	} {
		if got := DataBytes(c.memory); got != c.want {
			t.Errorf("%s: %d, want %d", c.memory, got, c.want)
		}
		if got := HeapBytes(c.memory); got != c.want+48<<20 {
			t.Errorf("%s: a heap of %d", c.memory, got)
		}
	}
}
