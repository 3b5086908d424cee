package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"firn/internal/job"
)

const (
	clientName = "firn" // what brokers show, and what quotas and their logs name
	// dialTimeout bounds one attempt to connect to one broker, so that a broker that is gone without a word costs
	// little of the job's connect_timeout.
	dialTimeout = 5 * time.Second
)

// KafkaOptions is how a client of the cluster connects: brokers, TLS and SASL. Files are read once here, so that a
// missing one is found at the start; the files of a secret and of the client's certificate are read again for every
// connection, so that they can be renewed while the job runs.
func KafkaOptions(k job.Kafka) ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(k.Brokers...),
		kgo.ClientID(clientName),
		kgo.SoftwareNameAndVersion(clientName, "1"),
		kgo.DialTimeout(dialTimeout),
	}
	encryption, err := tlsConfig(k.TLS)
	if err != nil {
		return nil, err
	}
	if encryption != nil {
		options = append(options, kgo.DialTLSConfig(encryption))
	}
	mechanism, err := saslMechanism(k.SASL)
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	return options, nil
}

// tlsConfig is nil when the connection is not encrypted.
func tlsConfig(t job.TLS) (*tls.Config, error) {
	if t == (job.TLS{}) {
		return nil, nil
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName, // empty: the client takes each broker's host
		InsecureSkipVerify: t.InsecureSkipVerify,
	}
	if t.CAFile != "" {
		roots, err := certificatePool(t.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = roots
	}
	if t.CertFile != "" || t.KeyFile != "" {
		load := func() (*tls.Certificate, error) { return clientCertificate(t.CertFile, t.KeyFile) }
		if _, err := load(); err != nil {
			return nil, err
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return config, nil
}

func certificatePool(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading tls.ca_file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading tls.ca_file %s: no certificate in PEM form is in it", path)
	}
	return roots, nil
}

func clientCertificate(certFile, keyFile string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("reading tls.cert_file %s and tls.key_file %s: %w", certFile, keyFile, err)
	}
	return &pair, nil
}

// saslMechanism is nil when the client does not say who it is.
func saslMechanism(s job.SASL) (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "":
		return nil, nil
	case "OAUTHBEARER":
		token := secretReader(s.Token, s.TokenFile, "sasl.token_file")
		return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
			text, err := token()
			return oauth.Auth{Token: text}, err
		}), readable(token)
	}
	password := secretReader(s.Password, s.PasswordFile, "sasl.password_file")
	login := func(context.Context) (scram.Auth, error) {
		text, err := password()
		return scram.Auth{User: s.Username, Pass: text}, err
	}
	switch s.Mechanism {
	case "PLAIN":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			text, err := password()
			return plain.Auth{User: s.Username, Pass: text}, err
		}), readable(password)
	case "SCRAM-SHA-256":
		return scram.Sha256(login), readable(password)
	case "SCRAM-SHA-512":
		return scram.Sha512(login), readable(password)
	default:
		return nil, fmt.Errorf("sasl.mechanism %q is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER",
			s.Mechanism)
	}
}

// secretReader gives a secret, from its file at each call when there is one. A line break at the end of the file is
// not part of it.
func secretReader(secret job.Secret, path, setting string) func() (string, error) {
	if path == "" {
		return func() (string, error) { return secret.Reveal(), nil }
	}
	return func() (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", setting, err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	}
}

// readable reports a secret that cannot be read now.
func readable(secret func() (string, error)) error {
	_, err := secret()
	return err
}
