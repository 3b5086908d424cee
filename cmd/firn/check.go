package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"firn/internal/job"
	"firn/internal/wire"
)

func newCheckCommand(g *globalOptions) *cobra.Command {
	var template string
	var parameters []string
	cmd := &cobra.Command{
		Use:   "check [JOB.yaml]",
		Short: "Show a job with its defaults and try its connections",
		Long: `Show the effective job and connect to everything that it names, without changing anything. All faults are
listed, those of the file with their lines.

Exit status: 0 the job can run, 1 something does not fit, 2 usage or job file, 3 something cannot be reached.`,
		Example: "  firn check orders.yaml",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := loadJob(g, args, template, parameters)
			if err != nil {
				return err
			}
			return checkJob(cmd.Context(), g, j)
		},
	}
	addJobFlags(cmd, &template, &parameters)
	return cmd
}

func checkJob(ctx context.Context, g *globalOptions, j *job.Job) error {
	findings := wire.Check(ctx, j, newLogger(g, j))
	show := printFindings
	if g.JSON {
		show = printFindingsJSON
	}
	if err := show(g, j, findings); err != nil {
		return err
	}
	return verdict(findings)
}

// verdict names the parts that failed. What is wrong with each was printed with the findings.
func verdict(findings []wire.Finding) error {
	var failed failedParts
	for _, f := range findings {
		if f.Err != nil {
			failed = append(failed, f)
		}
	}
	if failed == nil {
		return nil
	}
	return failed
}

// failedParts is the error of a check whose findings were printed. Its chain has their errors, for the exit code.
type failedParts []wire.Finding

// Error implements error.
func (p failedParts) Error() string {
	names := make([]string, len(p))
	for i, f := range p {
		names[i] = f.Part
	}
	return "the job cannot run: see FAIL " + strings.Join(names, ", ")
}

// Unwrap gives the errors of the parts.
func (p failedParts) Unwrap() []error {
	errs := make([]error, len(p))
	for i, f := range p {
		errs[i] = f.Err
	}
	return errs
}

func printFindings(g *globalOptions, j *job.Job, findings []wire.Finding) error {
	if _, err := fmt.Fprintf(g.Stdout, "%s\n", j.YAML()); err != nil {
		return err
	}
	for _, f := range findings {
		mark, text := "ok  ", f.Detail
		if f.Err != nil {
			mark, text = "FAIL", f.Err.Error()
		}
		if _, err := fmt.Fprintf(g.Stdout, "%s %-7s %s\n", mark, f.Part, text); err != nil {
			return err
		}
	}
	return nil
}

func printFindingsJSON(g *globalOptions, j *job.Job, findings []wire.Finding) error {
	type part struct {
		wire.Finding
		OK    bool   `json:"ok"`
		Error string `json:"error,omitempty"`
	}
	out := struct {
		Job   string `json:"job_yaml"`
		Parts []part `json:"parts"`
	}{Job: j.YAML()}
	for _, f := range findings {
		p := part{Finding: f, OK: f.Err == nil}
		if f.Err != nil {
			p.Error = f.Err.Error()
		}
		out.Parts = append(out.Parts, p)
	}
	return json.NewEncoder(g.Stdout).Encode(out)
}
