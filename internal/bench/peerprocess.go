package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/job"
	"firn/internal/wire"
)

// prepare compiles the rival's program and makes the table.
func (r *peerRun) prepare(ctx context.Context) error {
	maker := r.peer.jarsOf(r.peer.table)
	own := r.peer.jarsOf(r.peer.poms[0])
	for _, step := range []struct {
		classPath string
		sources   []string
	}{{maker, []string{"CreateTable.java"}}, {own, []string{r.peer.main + ".java", "Starter.java"}}} {
		paths, err := writeSources(r.folder, step.sources...)
		if err != nil {
			return err
		}
		compile := append([]string{"-nowarn", "-d", r.classes(), "-cp", step.classPath}, paths...)
		if err := runTool(ctx, javaTool("javac"), compile...); err != nil {
			return err
		}
	}
	codec := r.compression
	if codec == "none" {
		codec = "uncompressed"
	}
	buckets := 0
	if r.partition != "" {
		buckets = bucketedCount
	}
	return runTool(ctx, javaTool("java"), "-Xmx256m", "-cp", classPath(r.classes(), maker),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "CreateTable", r.warehouse(), r.kind.name, strconv.Itoa(buckets),
		codec)
}

func (r *peerRun) classes() string { return filepath.Join(r.folder, "classes") }

// jvm is the process of a rival. One goroutine owns it.
type jvm struct {
	command *exec.Cmd
	input   interface{ Close() error }
	log     string
	ended   chan struct{}
}

// start starts the rival. Its output goes to a file in the run's folder.
func (r *peerRun) start(ctx context.Context) (*jvm, error) {
	arguments, err := r.peer.arguments(ctx, r)
	if err != nil {
		return nil, err
	}
	options := []string{
		"-Xms512m", "-Xmx" + r.peer.heap, "-XX:+UseG1GC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-cp", classPath(r.classes(), r.peer.jarsOf(r.peer.poms[0])),
	}
	for _, p := range r.peer.opens {
		options = append(options, "--add-opens", p+"=ALL-UNNAMED")
	}
	log, err := os.Create(filepath.Join(r.folder, "log"))
	if err != nil {
		return nil, fmt.Errorf("making the log of a rival: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	//nolint:gosec // the program is Java
	command := exec.CommandContext(ctx, javaTool("java"), append(append(options, r.peer.main), arguments...)...)
	command.Dir, command.Stdout, command.Stderr = r.folder, log, log
	p := &jvm{command: command, log: log.Name(), ended: make(chan struct{})}
	if p.input, err = command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting a rival: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting a rival: %w", err)
	}
	go func() {
		_ = command.Wait() // how it ended is in its log
		close(p.ended)
	}()
	return p, nil
}

func (p *jvm) pid() int { return p.command.Process.Pid }

// stop ends the process, with force after a while.
func (p *jvm) stop() {
	_ = p.input.Close()
	select {
	case <-p.ended:
	case <-time.After(childGrace):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// said is the end of what the process wrote, to be put behind an error.
func (p *jvm) said() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	t := tail{}
	_, _ = t.Write(text)
	return "; it said: " + strings.TrimSpace(string(t.text))
}

// controlTopic is the topic of its own that a rival may have.
func (r *peerRun) controlTopic() string { return r.group + "-control" }

// admin does something at the broker.
func (r *peerRun) admin(do func(*kadm.Client) error) error {
	options, err := wire.KafkaOptions(job.Kafka{Brokers: r.broker.addresses})
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("making a Kafka client: %w", err)
	}
	defer client.Close()
	return do(kadm.NewClient(client))
}

// forget deletes the topic that the rival had at the broker. Its consumer groups stay, each of a name of its own: they
// have members until these time out, and the broker forgets empty ones by itself.
func (r *peerRun) forget(ctx context.Context) error {
	return r.admin(func(admin *kadm.Client) error {
		topics, err := admin.ListTopics(ctx)
		if err != nil {
			return fmt.Errorf("looking for the control topic of a rival: %w", err)
		}
		if !topics.Has(r.controlTopic()) {
			return nil
		}
		deleted, err := admin.DeleteTopics(ctx, r.controlTopic())
		if err = errors.Join(err, deleted.Error()); err != nil {
			return fmt.Errorf("deleting the control topic of a rival: %w", err)
		}
		return nil
	})
}
