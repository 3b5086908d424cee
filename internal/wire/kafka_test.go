package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"

	"firn/internal/job"
)

// connect makes a client of the settings and asks the cluster for something.
func connect(t *testing.T, cluster *kfake.Cluster, k job.Kafka) error {
	t.Helper()
	k.Brokers = cluster.ListenAddrs()
	options, err := KafkaOptions(k)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(append(options, kgo.RequestRetries(0))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return client.Ping(ctx)
}

func kafkaCluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

func TestKafkaOptionsSASL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			cluster := kafkaCluster(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "u", "secret"))
			f := func(want bool, s job.SASL) {
				t.Helper()
				if err := connect(t, cluster, job.Kafka{SASL: s}); (err == nil) != want {
					t.Errorf("connecting gave %v", err)
				}
			}
			f(true, job.SASL{Mechanism: mechanism, Username: "u", Password: "secret"})
			f(true, job.SASL{Mechanism: mechanism, Username: "u", PasswordFile: file})
			f(false, job.SASL{Mechanism: mechanism, Username: "u", Password: "wrong"})
			f(false, job.SASL{})
		})
	}
}

// A token that is renewed in its file is used for the next connection.
func TestKafkaOptionsReadTheTokenAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := KafkaOptions(job.Kafka{
		Brokers: []string{"a:1"}, SASL: job.SASL{Mechanism: "OAUTHBEARER", TokenFile: file},
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	mechanism := client.OptValue(kgo.SASL).([]sasl.Mechanism)[0]
	if mechanism.Name() != "OAUTHBEARER" {
		t.Fatalf("the mechanism is %s", mechanism.Name())
	}
	f := func(want string) {
		t.Helper()
		_, first, err := mechanism.Authenticate(context.Background(), "")
		if err != nil || !strings.Contains(string(first), "auth=Bearer "+want+"\x01") {
			t.Errorf("authenticating sent %q and %v, want token %q", first, err, want)
		}
	}
	f("one")
	if err := os.WriteFile(file, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("two")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mechanism.Authenticate(context.Background(), ""); err == nil {
		t.Error("authenticating without the file gave no error")
	}
}

func TestKafkaOptionsConnection(t *testing.T) {
	options, err := KafkaOptions(job.Kafka{Brokers: []string{"a:1", "b:2"}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if diff := cmp.Diff([]string{"a:1", "b:2"}, client.OptValue(kgo.SeedBrokers)); diff != "" {
		t.Error(diff)
	}
	if id := client.OptValue(kgo.ClientID); id != "firn" {
		t.Errorf("the client id is %v", id)
	}
	if d := client.OptValue(kgo.DialTimeout); d != dialTimeout {
		t.Errorf("the dial timeout is %v", d)
	}
	if c := client.OptValue(kgo.DialTLSConfig); c != (*tls.Config)(nil) {
		t.Errorf("TLS is %v where none was asked for", c)
	}
}

func TestKafkaOptionsTLS(t *testing.T) {
	a := newAuthority(t)
	server := a.issue(t, "server", "broker.test")
	cluster := kafkaCluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{server.pair}}))
	other := newAuthority(t)
	f := func(want bool, settings job.TLS) {
		t.Helper()
		if err := connect(t, cluster, job.Kafka{TLS: settings}); (err == nil) != want {
			t.Errorf("connecting with %+v gave %v", settings, err)
		}
	}
	f(true, job.TLS{CAFile: a.file})
	f(true, job.TLS{CAFile: a.file, ServerName: "broker.test"})
	f(true, job.TLS{InsecureSkipVerify: true})
	f(false, job.TLS{CAFile: a.file, ServerName: "elsewhere.test"})
	f(false, job.TLS{CAFile: other.file})
	f(false, job.TLS{Enabled: true}) // the system does not know our authority
	f(false, job.TLS{})
}

func TestKafkaOptionsMutualTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	server := a.issue(t, "server", "broker.test")
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	cluster := kafkaCluster(t, kfake.TLS(&tls.Config{
		Certificates: []tls.Certificate{server.pair}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert,
	}))
	mine, stranger := a.issue(t, "client", "client"), other.issue(t, "client", "client")
	if err := connect(t, cluster, job.Kafka{TLS: job.TLS{CAFile: a.file}}); err == nil {
		t.Error("connecting without a certificate gave no error")
	}
	settings := job.TLS{CAFile: a.file, CertFile: stranger.certFile, KeyFile: stranger.keyFile}
	if err := connect(t, cluster, job.Kafka{TLS: settings}); err == nil {
		t.Error("connecting with a stranger's certificate gave no error")
	}
	settings.CertFile, settings.KeyFile = mine.certFile, mine.keyFile
	if err := connect(t, cluster, job.Kafka{TLS: settings}); err != nil {
		t.Error(err)
	}
}

func TestKafkaOptionsRefuse(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none")
	f := func(want string, k job.Kafka) {
		t.Helper()
		if _, err := KafkaOptions(k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f("tls.ca_file", job.Kafka{TLS: job.TLS{CAFile: none}})
	f("no certificate in PEM form", job.Kafka{TLS: job.TLS{CAFile: empty}})
	f("tls.cert_file", job.Kafka{TLS: job.TLS{CertFile: none, KeyFile: none}})
	f("sasl.password_file", job.Kafka{SASL: job.SASL{Mechanism: "PLAIN", PasswordFile: none}})
	f("sasl.token_file", job.Kafka{SASL: job.SASL{Mechanism: "OAUTHBEARER", TokenFile: none}})
	f(`"KERBEROS" is none of`, job.Kafka{SASL: job.SASL{Mechanism: "KERBEROS"}})
}

// authority is a certificate authority for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string
}

// identity is a certificate and its key.
type identity struct {
	pair              tls.Certificate
	certFile, keyFile string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key, writePEM(t, "CERTIFICATE", der)}
}

func (a authority) issue(t *testing.T, subject, host string) identity {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: subject},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	made := identity{certFile: writePEM(t, "CERTIFICATE", der), keyFile: writePEM(t, "EC PRIVATE KEY", secret)}
	if made.pair, err = tls.LoadX509KeyPair(made.certFile, made.keyFile); err != nil {
		t.Fatal(err)
	}
	return made
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "it.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
