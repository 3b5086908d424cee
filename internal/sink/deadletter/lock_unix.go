//go:build unix

package deadletter

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other processes from the file until it is closed.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrFileInUse
	}
	return err
}

// syncDirectory makes the names in a directory durable.
func syncDirectory(directory *os.File) error { return directory.Sync() }
