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
		{32 << 20, 16 << 20}, {128 << 20, 64 << 20}, {160 << 20, 80 << 20}, {256 << 20, 176 << 20},
		{1 << 30, 944 << 20}, {1 << 40, 1<<40 - ProgramBytes},
	} {
		if got := DataBytes(c.memory); got != c.want {
			t.Errorf("%s: %d, want %d", c.memory, got, c.want)
		}
	}
}
