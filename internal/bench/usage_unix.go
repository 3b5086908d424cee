//go:build unix

package bench

import (
	"fmt"
	"syscall"
	"time"
)

// cpuTime is the user and system time of this process, all threads and the garbage collector included.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("reading the CPU time of the process: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
