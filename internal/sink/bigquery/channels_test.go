package bigquery

import (
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
)

func TestStreamsShareChannels(t *testing.T) {
	c := &channels{spread: 2, dial: func() (*grpc.ClientConn, error) {
		return grpc.NewClient("127.0.0.1:1", grpc.WithTransportCredentials(insecure.NewCredentials()))
	}}
	var taken []*channel
	take := func() *channel {
		ch, err := c.take()
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, ch)
		return ch
	}
	for range 2 * streamsMax {
		take()
	}
	if len(c.open) != 2 || c.open[0].streams != streamsMax || c.open[1].streams != streamsMax {
		t.Fatalf("%d channels", len(c.open))
	}
	if take(); len(c.open) != 3 {
		t.Fatalf("full channels got another stream: %d", len(c.open))
	}
	suspect := taken[0]
	for _, ch := range taken {
		c.release(ch, ch == suspect)
	}
	if len(c.open) != 2 || suspect.conn.GetState() != connectivity.Shutdown {
		t.Errorf("a suspect channel is kept: %d, %s", len(c.open), suspect.conn.GetState())
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	if _, err := c.take(); !errors.Is(err, errClientClosed) {
		t.Errorf("after the end: %v", err)
	}
}
