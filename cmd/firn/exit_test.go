package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"firn/internal/job"
	"firn/internal/wire"
)

func TestExitCodes(t *testing.T) {
	unreachable := fmt.Errorf("kafka %w", wire.ErrUnreachable)
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"success", nil, 0},
		{"a run that failed", errors.New("disk full"), 1},
		{"usage", usageError{errors.New("no such flag")}, 2},
		{"a job file", job.Faults{{What: "wrong"}}, 2},
		{"not reached", fmt.Errorf("opening: %w", unreachable), 3},
		{"a check that found something", verdict([]wire.Finding{{Part: "a"}, {Part: "b", Err: errors.New("no")}}), 1},
		{"a check that did not reach something", verdict([]wire.Finding{{Part: "a", Err: unreachable}}), 3},
		{"a check that found nothing", verdict([]wire.Finding{{Part: "a"}}), 0},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.want)
		}
	}
}

// The scripts of testdata only tell zero from other codes.
func TestExitCodesOfCommandLines(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("name: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"--help"}, 0},
		{[]string{"version"}, 0},
		{[]string{"nope"}, 2},
		{[]string{"run", "--nope"}, 2},
		{[]string{"run", "nothere.yaml"}, 2},
		{[]string{"check", bad}, 2},
		{[]string{"run", "--template", "Kafka_To_Iceberg_Yaml", "--parameters", "topic"}, 2},
		{[]string{"table", "peek", "a.b", "--job", bad}, 2},
		{[]string{"table", "peek", "a.b", "--catalog-type", "sql"}, 2},
		{[]string{"table", "peek", "a.b", "--catalog-type", "hadoop", "--warehouse", t.TempDir()}, 1},
		{[]string{"generate", "--print", "--rate", "-1"}, 2},
		{[]string{"generate", "--brokers", "localhost:1", "--topic", "t", "--connect-timeout", "1ms"}, 3},
	} {
		var out, log bytes.Buffer
		if got := execute(context.Background(), c.args, &out, &log); got != c.want {
			t.Errorf("firn %v: exit code %d, want %d: %s", c.args, got, c.want, log.String())
		}
	}
}
