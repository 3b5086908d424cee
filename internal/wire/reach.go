package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"

	"firn/internal/source/kafka"
)

// ErrUnreachable is wrapped by errors of what could not be reached within the connect timeout.
var ErrUnreachable = errors.New("cannot be reached")

// reach tries a step until it is done, fails for a reason that waiting does not mend, or the time is up.
func reach(
	ctx context.Context, limit time.Duration, what string, log *slog.Logger, step func(context.Context) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	attempt := func() (struct{}, error) {
		err := step(ctx)
		switch {
		case err == nil:
			return struct{}{}, nil
		case !unreachable(err):
			return struct{}{}, backoff.Permanent(err)
		}
		if last == nil {
			log.Warn("waiting", "for", what, "limit", limit, "error", err.Error())
		}
		last = err
		return struct{}{}, err
	}
	wait := backoff.NewExponentialBackOff()
	wait.MaxInterval = 2 * time.Second
	_, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
	if err == nil || (last == nil && !unreachable(err)) {
		return err
	}
	if last == nil || !unreachable(err) && !errors.Is(err, context.DeadlineExceeded) {
		last = err
	}
	if !unreachable(last) {
		return last
	}
	return fmt.Errorf("%s %w within %s: %w; check the address and that it is up, or raise limits.connect_timeout",
		what, ErrUnreachable, limit, last)
}

// unreachable tells a part that does not answer from one that says no.
func unreachable(err error) bool {
	var network net.Error
	return errors.Is(err, kafka.ErrUnreachable) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded)
}
