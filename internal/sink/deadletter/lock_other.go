//go:build !unix

package deadletter

import "os"

// lock does nothing where the system has no advisory locks: give each process a file of its own.
func lock(*os.File) error { return nil }

// syncDirectory does nothing where directories cannot be synced.
func syncDirectory(*os.File) error { return nil }
