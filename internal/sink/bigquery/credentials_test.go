package bigquery

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/auth"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// serviceAccount writes the key file of a service account that there is not.
func serviceAccount(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writeJSON(t, map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "1", "client_email": "a@p.example",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		"token_uri":   "http://127.0.0.1:1/token",
	})
}

func writeJSON(t *testing.T, content any) string {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCredentialsAreFound(t *testing.T) {
	key := serviceAccount(t)
	for _, c := range []struct {
		name        string
		credentials Credentials
		environment string
	}{
		{"by a file", Credentials{File: key}, ""},
		{"by the environment", Credentials{}, key},
		{"to act as another", Credentials{File: key, Impersonate: "b@p.example", Delegates: []string{"c@p.example"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", c.environment)
			found, err := c.credentials.load()
			if err != nil || found == nil {
				t.Fatalf("%v, %v", found, err)
			}
			if c.credentials.Impersonate != "" {
				return
			}
			if project, err := found.ProjectID(t.Context()); err != nil || project != "p" {
				t.Errorf("project %q, %v", project, err)
			}
		})
	}
	if found, err := (Credentials{None: true, File: "nowhere"}).load(); found != nil || err != nil {
		t.Errorf("no credentials are asked for: %v, %v", found, err)
	}
}

func TestCredentialsThatAreWrong(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"none", "", []string{"there are no Google credentials", "GOOGLE_APPLICATION_CREDENTIALS", "gcloud auth"}},
		{"no such file", filepath.Join(t.TempDir(), "gone.json"), []string{"reading the credentials file", "gone.json"}},
		{"no credentials", writeJSON(t, []int{1}), []string{"is no credentials file"}},
		{"no type", writeJSON(t, map[string]string{"a": "b"}), []string{"is no credentials file"}},
		{"another type", writeJSON(t, map[string]string{"type": "password"}), []string{"loading the credentials file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Credentials{File: c.file}.load()
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
		})
	}
	if _, err := (Credentials{}).load(); !errors.Is(err, ErrDenied) {
		t.Errorf("no credentials: %v", err)
	}
}

// token is a provider of one token, or of an error.
type token struct {
	value, kind string
	err         error
}

func (p token) Token(context.Context) (*auth.Token, error) {
	if p.err != nil {
		return nil, p.err
	}
	return &auth.Token{Value: p.value, Type: p.kind}, nil
}

func tokensOf(p token, quota string) tokens {
	return tokens{auth.NewCredentials(&auth.CredentialsOptions{
		TokenProvider: p,
		QuotaProjectIDProvider: auth.CredentialsPropertyFunc(func(context.Context) (string, error) {
			return quota, nil
		}),
	})}
}

func TestTokensOfCalls(t *testing.T) {
	headers, err := tokensOf(token{value: "x"}, "").GetRequestMetadata(t.Context())
	if err != nil || len(headers) != 1 || headers["authorization"] != "Bearer x" {
		t.Errorf("%v, %v", headers, err)
	}
	headers, err = tokensOf(token{value: "x", kind: "Other"}, "payer").GetRequestMetadata(t.Context())
	if err != nil || headers["authorization"] != "Other x" || headers["x-goog-user-project"] != "payer" {
		t.Errorf("%v, %v", headers, err)
	}
	if !(tokens{}).RequireTransportSecurity() {
		t.Error("tokens go over open connections")
	}
}

// What may pass is tried again, and what does not stops the job.
func TestTokensThatAreNotGiven(t *testing.T) {
	refused := &auth.Error{Response: &http.Response{StatusCode: http.StatusBadRequest}}
	for _, c := range []struct {
		err  error
		want codes.Code
		kind error
	}{
		{errors.New("no route"), codes.Unavailable, ErrUnreachable},
		{&auth.Error{Response: &http.Response{StatusCode: http.StatusBadGateway}}, codes.Unavailable, ErrUnreachable},
		{refused, codes.Unauthenticated, ErrDenied},
	} {
		_, err := tokensOf(token{err: c.err}, "").GetRequestMetadata(t.Context())
		if status.Code(err) != c.want || !errors.Is(classify("t", err), c.kind) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
