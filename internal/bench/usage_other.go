//go:build !unix

package bench

import (
	"errors"
	"time"
)

func cpuTime() (time.Duration, error) {
	return 0, errors.New("this system does not say how much CPU time a process took; measure on Linux, macOS or BSD")
}
