package main

import (
	"errors"

	"github.com/spf13/cobra"

	"firn/internal/job"
	"firn/internal/wire"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitRunFailed   = 1
	exitUsage       = 2
	exitUnreachable = 3
)

// usageError is a fault of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usageArgs makes the error of an argument check a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

func exitCode(err error) int {
	var usage usageError
	var faults job.Faults
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &faults):
		return exitUsage
	case errors.Is(err, wire.ErrUnreachable):
		return exitUnreachable
	default:
		return exitRunFailed
	}
}
