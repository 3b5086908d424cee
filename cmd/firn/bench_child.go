package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"firn/internal/bench"
)

// newBenchBrokerCommand is the process that holds the messages of a benchmark.
func newBenchBrokerCommand(g *globalOptions) *cobra.Command {
	return &cobra.Command{
		Use:    bench.RoleBroker + " TOPIC PARTITIONS",
		Short:  "Serve an in-memory Kafka until the input ends",
		Hidden: true,
		Args:   usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			partitions, err := strconv.Atoi(args[1])
			if err != nil || partitions < 1 {
				return usageError{fmt.Errorf("%q is not a number of partitions", args[1])}
			}
			return bench.RunBroker(cmd.Context(), args[0], partitions, os.Stdin, g.Stdout)
		},
	}
}

// newBenchJobCommand is the process of a job that is measured.
func newBenchJobCommand(g *globalOptions) *cobra.Command {
	var untilCaughtUp bool
	cmd := &cobra.Command{
		Use:    bench.RoleJob + " JOB.yaml",
		Short:  "Run a job and print what it came to, as JSON",
		Hidden: true,
		Args:   usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := loadFile(args[0], g.Env)
			if err != nil {
				return err
			}
			defer limitMemory(j.Limits.Memory)() // as firn run does
			return bench.RunJob(cmd.Context(), j, untilCaughtUp, os.Stdin, g.Stdout, newLogger(g, j))
		},
	}
	cmd.Flags().BoolVar(&untilCaughtUp, "until-caught-up", false, "end when all that is there at the start is committed")
	return cmd
}

// newBenchFloorCommand is the process of the floor that a job is compared with.
func newBenchFloorCommand(g *globalOptions) *cobra.Command {
	return &cobra.Command{
		Use:    bench.RoleFloor + " JOB.yaml",
		Short:  "Copy the topic of a job into a file beside the job file and print what it came to, as JSON",
		Hidden: true,
		Args:   usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := loadFile(args[0], g.Env)
			if err != nil {
				return err
			}
			defer limitMemory(j.Limits.Memory)() // as the job
			return bench.RunFloor(cmd.Context(), j, filepath.Dir(args[0]), g.Stdout)
		},
	}
}
