package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// What is not an answer to a fetch passes, and so does one that is not understood.
func TestConnectionsPassWhatIsNotAFetch(t *testing.T) {
	request := func(key, version uint16, id uint32) []byte {
		b := binary.BigEndian.AppendUint32(nil, 10)
		b = binary.BigEndian.AppendUint16(b, key)
		b = binary.BigEndian.AppendUint16(b, version)
		b = binary.BigEndian.AppendUint32(b, id)
		return append(b, 0, 0)
	}
	reply := func(id uint32, body string) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
		return append(binary.BigEndian.AppendUint32(b, id), body...)
	}
	large := string(bytes.Repeat([]byte("large"), 50_000))
	for name, c := range map[string]struct{ asks, answers []byte }{
		"metadata":                  {request(3, 9, 1), reply(1, large)},
		"a damaged fetch":           {request(fetchKey, 13, 1), reply(1, "damaged")},
		"an old fetch, cut off":     {request(fetchKey, 11, 1), reply(1, large)},
		"another correlation id":    {request(fetchKey, 13, 1), reply(2, "x")},
		"a login without an id":     {[]byte("\x00\x00\x00\x05token"), []byte("\x00\x00\x00\x01x")},
		"an empty login":            {[]byte("\x00\x00\x00\x05token"), []byte("\x00\x00\x00\x00")},
		"not kafka":                 {request(fetchKey, 13, 1), []byte("HTTP/1.1 400 Bad Request\r\n\r\n")},
		"a request that is no head": {[]byte("\x00\x00"), reply(1, "")},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			f := newFrames(&buffers{bytesMax: 1 << 20, wipe: true})
			conn, err := f.through(func(context.Context, string, string) (net.Conn, error) { return near, nil })(
				context.Background(), "tcp", "broker:9092")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = io.ReadFull(far, make([]byte, len(c.asks)))
				_, _ = far.Write(c.answers)
				_ = far.Close()
			}()
			if _, err = conn.Write(c.asks); err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(conn)
			if !bytes.Equal(got, c.answers) {
				t.Errorf("%.40q came through, want %.40q", got, c.answers)
			}
			if err = conn.Close(); err != nil {
				t.Error(err)
			}
			_ = conn.Close()
			if f.connections != 0 {
				t.Errorf("%d connections are counted", f.connections)
			}
		})
	}
}
