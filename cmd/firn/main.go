// Command firn moves streams into open tables.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signalContext()
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// signalContext ends at the first SIGINT or SIGTERM, so that the command can flush and commit. The second ends the
// process at once, which loses nothing: what was not committed is read again.
func signalContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		second := <-signals
		number, _ := second.(syscall.Signal)
		os.Exit(128 + int(number))
	}()
	return ctx, cancel
}

// globalOptions are what all commands share.
type globalOptions struct {
	JSON   bool
	Stdout io.Writer
	Stderr io.Writer
	Env    func(string) string
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	g := &globalOptions{Stdout: stdout, Stderr: stderr, Env: os.Getenv}
	root := newRootCommand(g)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "firn: %v\n", err)
	}
	return exitCode(err)
}

func newRootCommand(g *globalOptions) *cobra.Command {
	root := &cobra.Command{
		Use:   "firn",
		Short: "Move streams into open tables",
		Long: `firn moves streams into open tables: one binary, no cluster to run beside it.

Exit status: 0 success, 1 the run failed, 2 usage or job file, 3 something cannot be reached,
130 and 143 ended at once by a second signal.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(g.Stdout)
	root.SetErr(g.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.PersistentFlags().BoolVar(&g.JSON, "json", false, "print the result as JSON")
	root.AddCommand(newRunCommand(g), newCheckCommand(g), newDemoCommand(g), newGenerateCommand(g), newTableCommand(g),
		newOffsetsCommand(g), newAdviseCommand(g), newBenchCommand(g), newVersionCommand(g))
	return root
}
