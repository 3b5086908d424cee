package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// childGrace is how long a child may take to end after it was told to.
const childGrace = 20 * time.Second

// child is a process of this program. It says what it has to say as JSON values on its output, and ends when its input
// ends, so that none outlives this one. One goroutine owns it.
type child struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *json.Decoder
	errors  tail
	waited  bool
}

// startChild starts a process. The end of ctx interrupts it.
func startChild(command *exec.Cmd) (*child, error) {
	c := &child{command: command}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = childGrace
	command.Stderr = &c.errors
	var err error
	if c.input, err = command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	c.output = json.NewDecoder(output)
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	return c, nil
}

// hear waits for the next value that the process says.
func (c *child) hear(value any) error {
	err := c.output.Decode(value)
	if err == nil {
		return nil
	}
	if failed := c.end(); failed != nil {
		return failed // which is why there was nothing to hear
	}
	return fmt.Errorf("listening to a process: %w", err)
}

// tell sends the process a value.
func (c *child) tell(value any) error {
	if err := json.NewEncoder(c.input).Encode(value); err != nil {
		return fmt.Errorf("telling a process: %w", errors.Join(err, c.end()))
	}
	return nil
}

// end lets the process end and waits for it. It may be called twice.
func (c *child) end() error {
	if c.waited {
		return nil
	}
	c.waited = true
	errClose := c.input.Close()
	kill := time.AfterFunc(childGrace, func() { _ = c.command.Process.Kill() })
	defer kill.Stop()
	if err := c.command.Wait(); err != nil {
		return fmt.Errorf("a process of the benchmark failed: %w%s", err, c.said())
	}
	if errClose != nil && !errors.Is(errClose, os.ErrClosed) {
		return fmt.Errorf("closing the input of a process: %w", errClose)
	}
	return nil
}

// cpu is the CPU time of the process, which must have ended.
func (c *child) cpu() time.Duration {
	return c.command.ProcessState.UserTime() + c.command.ProcessState.SystemTime()
}

// said is what the process wrote to its standard error, to be put behind an error.
func (c *child) said() string {
	if text := bytes.TrimSpace(c.errors.text); len(text) > 0 {
		return "; it said: " + string(text)
	}
	return ""
}

// tail keeps the last bytes written to it.
type tail struct{ text []byte }

const tailBytesMax = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytesMax; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// untilClosed returns when the other side of a child's input has gone, or ctx ends.
func untilClosed(ctx context.Context, in io.Reader) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, in)
	}()
	<-ctx.Done()
}
