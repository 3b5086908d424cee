package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"firn/internal/job"
)

// roleVariable tells a process of the test program that it is a child, and which.
const roleVariable = "FIRN_BENCH_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := answer(role, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answer is what the command line does for the roles.
func answer(role string, arguments []string) error {
	switch role {
	case RoleBroker:
		partitions, err := strconv.Atoi(arguments[1])
		if err != nil {
			return err
		}
		return RunBroker(context.Background(), arguments[0], partitions, os.Stdin, os.Stdout)
	case RoleFloor:
		j, err := job.Load(arguments[0], os.Getenv)
		if err != nil {
			return err
		}
		return RunFloor(context.Background(), j, filepath.Dir(arguments[0]), os.Stdout)
	case RoleJob:
		j, err := job.Load(arguments[0], os.Getenv)
		if err != nil {
			return err
		}
		log := slog.New(slog.NewTextHandler(os.Stderr, nil))
		return RunJob(context.Background(), j, len(arguments) > 1, os.Stdin, os.Stdout, log)
	default:
		return fmt.Errorf("the role %s is broken, as a test wants it", role)
	}
}

// tiny measures as little as can be.
func tiny(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Runs: 2, MB: 1, Window: time.Millisecond, For: 500 * time.Millisecond, Command: "firn bench", Commit: "c0ffee",
		Child: func(ctx context.Context, role string, arguments ...string) *exec.Cmd {
			command := exec.CommandContext(ctx, self, arguments...)
			command.Env = append(os.Environ(), roleVariable+"="+role)
			return command
		},
	}
}
