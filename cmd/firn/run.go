package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"firn/internal/job"
	"firn/internal/web"
	"firn/internal/wire"
)

type runOptions struct {
	Template      string
	Parameters    []string
	UntilCaughtUp bool
	Listen        string
	CPUProfile    string
}

func newRunCommand(g *globalOptions) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [JOB.yaml]",
		Short: "Run a job",
		Long: `Run a job until it is stopped. The first SIGINT or SIGTERM flushes and commits what was read, within
limits.shutdown_timeout; the second ends at once. Nothing is lost or doubled either way. It logs to standard error;
with --json the figures of the run are printed at its end, as /status has them.

Exit status: 0 stopped or caught up, 1 the run failed, 2 usage or job file, 3 brokers or catalog cannot be reached.`,
		Example: `  firn run orders.yaml
  firn run orders.yaml --until-caught-up
  firn run --template Kafka_To_Iceberg_Yaml --parameters 'bootstrapServers=localhost:9092,topic=orders,...'
  firn run --template Kafka_To_Iceberg_Yaml --parameters '^@^topic=orders@catalogProperties={"type":"rest",...}@...'`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := loadJob(g, args, o.Template, o.Parameters)
			if err != nil {
				return err
			}
			if o.Listen != "" {
				j.Web.Listen = o.Listen
			}
			stop, err := profile(o.CPUProfile)
			if err != nil {
				return err
			}
			return errors.Join(runJob(cmd.Context(), g, j, o.UntilCaughtUp), stop())
		},
	}
	addJobFlags(cmd, &o.Template, &o.Parameters)
	cmd.Flags().BoolVar(&o.UntilCaughtUp, "until-caught-up", false, "end when all that is there at the start is committed")
	cmd.Flags().StringVar(&o.Listen, "listen", "",
		"`HOST:PORT` for /metrics, /healthz, /readyz and /status, in place of web.listen")
	cmd.Flags().StringVar(&o.CPUProfile, "cpu-profile", "", "write a profile for go tool pprof to this `file`")
	return cmd
}

func addJobFlags(cmd *cobra.Command, template *string, parameters *[]string) {
	cmd.Flags().StringVar(template, "template", "", "`name` of a Dataflow template, in place of a job file: "+
		strings.Join(job.Templates(), ", "))
	// StringArray: the parameters' own commas must reach ParseParameters.
	cmd.Flags().StringArrayVar(parameters, "parameters", nil,
		"`a=b,c=d` or ^@^a=b@c=d: parameters of the template; may be repeated")
}

// loadJob reads the job file, or the template and its parameters.
func loadJob(g *globalOptions, args []string, template string, parameters []string) (*job.Job, error) {
	switch {
	case template == "" && len(args) == 1:
		return loadFile(args[0], g.Env)
	case template == "" && len(parameters) > 0:
		return nil, usageError{errors.New("--parameters needs --template")}
	case template == "":
		return nil, usageError{errors.New("give a job file, or --template with --parameters")}
	case len(args) > 0:
		return nil, usageError{errors.New("give a job file or --template, not both")}
	}
	merged, err := job.ParseParameters(parameters...)
	if err != nil {
		return nil, usageError{err}
	}
	j, err := job.FromTemplate(template, merged)
	if err != nil {
		return nil, err
	}
	for _, i := range j.Ignored {
		fmt.Fprintf(g.Stderr, "firn: template parameter %s is not used: %s\n", i.Parameter, i.Reason)
	}
	return j, nil
}

// runJob runs the job and its web server until ctx ends.
func runJob(ctx context.Context, g *globalOptions, j *job.Job, untilCaughtUp bool) (err error) {
	log := newLogger(g, j)
	defer limitMemory(j.Limits.Memory)()
	a, err := wire.Open(ctx, j, wire.Options{UntilCaughtUp: untilCaughtUp}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	stopServing, err := serve(ctx, j.Web.Listen, a, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopServing()) }()
	err = a.Run(ctx)
	s := a.Metrics.Summary()
	logSummary(log, s)
	if g.JSON {
		err = errors.Join(err, printJSON(g.Stdout, s))
	}
	return err
}

func newLogger(g *globalOptions, j *job.Job) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(j.Log.Level))); err != nil {
		level = slog.LevelInfo // validated before
	}
	o := &slog.HandlerOptions{Level: level}
	if j.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(g.Stderr, o)).With("job", j.Name)
	}
	return slog.New(slog.NewTextHandler(g.Stderr, o)).With("job", j.Name)
}

// serve shows the job over HTTP, until its last commit and not only until ctx ends. An empty address is none.
func serve(ctx context.Context, listen string, a *wire.Assembly, log *slog.Logger) (stop func() error, err error) {
	if listen == "" {
		return func() error { return nil }, nil
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	server, err := web.Serve(serving, listen, web.Handlers{Job: a.Metrics}, log)
	if err != nil {
		cancel()
		return nil, err
	}
	log.Info("serving metrics", "address", server.Addr)
	return func() error { cancel(); return server.Wait() }, nil
}
