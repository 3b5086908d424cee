package main

import (
	"errors"
	"fmt"
	"strings"

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

// usageArgs makes a failed check of the arguments a usage error that says what can be given.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case check(cmd, args) == nil:
			return nil
		case cmd.HasAvailableSubCommands():
			return usageError{unknownCommand(cmd, args[0])}
		default:
			return usageError{fmt.Errorf("%s does not take the arguments %s; usage: %s", cmd.CommandPath(),
				strings.Join(args, " "), cmd.UseLine())}
		}
	}
}

// suggestionEdits is how many letters may differ for a command to be suggested; cobra's own choice.
const suggestionEdits = 2

func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = suggestionEdits
	do := fmt.Sprintf("%s --help lists its commands", cmd.CommandPath())
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		do = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %s; %s", name, cmd.CommandPath(), do)
}

// loadFile reads a job file. One that cannot be read is a fault of the command line.
func loadFile(path string, env func(string) string) (*job.Job, error) {
	j, err := job.Load(path, env)
	if _, faults := errors.AsType[job.Faults](err); err != nil && !faults {
		return nil, usageError{err}
	}
	return j, err
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
