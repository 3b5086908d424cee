package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"firn/internal/table"
)

// errNotChanged ends a command whose question was not answered with yes.
var errNotChanged = errors.New("the table was not changed: the answer was not yes; --yes does not ask")

// apply changes the partition spec, after it has said what that means and asked.
func (o *adviseOptions) apply(
	ctx context.Context, g *globalOptions, t *table.Table, fields []string, in io.Reader,
) error {
	now := t.PartitionTexts()
	if slices.Equal(now, fields) {
		_, err := fmt.Fprintln(g.Stderr, "firn: the table is partitioned as advised already; nothing is changed")
		return err
	}
	fmt.Fprintf(g.Stderr, `
This changes table %s:
  partition spec  %s  ->  %s
Files that are there stay as they are and are read as before. Files that are written by whoever loads the table from
now on have the new spec. A job that runs goes on with the old one until it is started again. Data of the old spec is
not rewritten: a query for one value reads it as it does today.
`, t.Ident(), fieldsText(now), fieldsText(fields))
	if !o.Yes {
		fmt.Fprint(g.Stderr, "Type yes to change it: ")
		answer, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the answer: %w", err)
		}
		if strings.TrimSpace(answer) != "yes" {
			return errNotChanged
		}
	}
	fresh, err := t.Repartition(ctx, fields)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(g.Stderr, "firn: table %s is partitioned by %s now (spec %d)\n", t.Ident(),
		fieldsText(fresh.PartitionTexts()), fresh.SpecID())
	return err
}
