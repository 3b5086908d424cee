package kafka

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"firn/internal/record"
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

// TLS is below what the reader's connections do.
func TestReadingThroughTLS(t *testing.T) {
	certificate := selfSigned(t)
	cluster := newCluster(t, kfake.SeedTopics(1, "orders"), kfake.TLS(&tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
	}))
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Leaf)
	encrypted := kgo.DialTLSConfig(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	want := numbers("v", 50)
	produce(t, newClient(t, cluster.ListenAddrs(), encrypted), "orders", 0, want...)
	s := newSource(t, cluster.ListenAddrs(), func(c *Config) { c.Client = append(c.Client, encrypted) })
	c := open(t, s, map[record.TopicPartition]int64{orders: 0})
	c.reaches(orders, 50)
	if got := c.values(orders); !slices.Equal(got, want) {
		t.Errorf("read %v", got)
	}
}

// selfSigned is a certificate of this machine.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
