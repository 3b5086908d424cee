package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"firn/internal/table"
)

type auditOptions struct {
	JobName string
	Store   bool
}

func newTableAuditCommand(g *globalOptions, o *tableOptions) *cobra.Command {
	var a auditOptions
	cmd := &cobra.Command{
		Use:   "audit [TABLE]",
		Short: "Prove that every source offset is in a table exactly once",
		Long: `Prove from the snapshots of a table that every source offset that a job read is there exactly once: the ranges
of its commits follow each other without gap or overlap, every offset is accounted for, the rows of the files added
are those stated, no file and no flush is there twice, and the live rows are the sum of what the snapshots did. With
--store every live file is also looked for in the store. Snapshots that expired cannot be audited: the report says
where the proof begins. With --json the result is {"ok": ..., "reports": [one a job]}.

Exit status: 0 proved, 1 something is wrong or the audit could not be made, 2 usage or job file, 3 cannot be reached.`,
		Example: "  firn table audit db.orders --job orders.yaml --store",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), g, args, func(t *table.Table, of target) error {
				return auditTable(cmd.Context(), g, t, of, a)
			})
		},
	}
	cmd.Flags().StringVar(&a.JobName, "job-name", "",
		"`name` of the job to audit; default that of --job, or every one the table knows")
	cmd.Flags().BoolVar(&a.Store, "store", false, "look for every live file in the store")
	return cmd
}

func auditTable(ctx context.Context, g *globalOptions, t *table.Table, of target, a auditOptions) error {
	jobs := t.Jobs()
	switch {
	case a.JobName != "":
		jobs = []string{a.JobName}
	case of.job != nil:
		jobs = []string{of.job.Name}
	case len(jobs) == 0:
		return fmt.Errorf("no firn job ever committed to table %s: there is nothing to audit", t.Ident())
	}
	faults := 0
	reports := make([]table.AuditReport, 0, len(jobs))
	for _, job := range jobs {
		report, err := auditJob(ctx, g, t, job, a.Store)
		if err != nil {
			return err
		}
		faults += len(report.Faults)
		reports = append(reports, report)
	}
	if err := printAudit(g, reports, faults == 0); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("table %s: the audit found %d faults", t.Ident(), faults)
	}
	return nil
}

func auditJob(
	ctx context.Context, g *globalOptions, t *table.Table, job string, store bool,
) (table.AuditReport, error) {
	var done atomic.Int64
	total := t.HistoryLength()
	b := bar{
		title: "audit", total: int64(total), done: done.Load,
		text: func() string { return fmt.Sprintf("%d of %d snapshots", done.Load(), total) },
	}
	stop := b.show(ctx, g.Stderr)
	defer stop()
	return t.Audit(ctx, job, table.AuditOptions{Store: store, Progress: func() { done.Add(1) }})
}

func printAudit(g *globalOptions, reports []table.AuditReport, ok bool) error {
	if g.JSON {
		return printJSON(g.Stdout, struct {
			OK      bool                `json:"ok"`
			Reports []table.AuditReport `json:"reports"`
		}{ok, reports})
	}
	var errs []error
	for _, r := range reports {
		errs = append(errs, r.WriteText(g.Stdout))
	}
	return errors.Join(errs...)
}
