package bigquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/credentials/impersonate"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Credentials says as whom the client comes. The zero value is Google's application default credentials: the file that
// GOOGLE_APPLICATION_CREDENTIALS names, that of gcloud auth application-default login, or those of the machine.
type Credentials struct {
	// File is a JSON key or configuration, as of a service account or of workload identity federation.
	File string
	// Impersonate is the service account, an email address, that the credentials act as.
	Impersonate string
	// Delegates are the service accounts on the way to it, each of which may make tokens for the next.
	Delegates []string
	// None sends no credentials, as to a server for tests.
	None bool
}

const scope = "https://www.googleapis.com/auth/cloud-platform"

// load finds the credentials; nil for none. It does not ask for a token.
func (c Credentials) load() (*auth.Credentials, error) {
	if c.None {
		return nil, nil
	}
	creds, err := c.detect()
	if err != nil {
		return nil, err
	}
	if c.Impersonate == "" {
		return creds, nil
	}
	creds, err = impersonate.NewCredentials(&impersonate.CredentialsOptions{
		TargetPrincipal: c.Impersonate, Delegates: c.Delegates, Scopes: []string{scope}, Credentials: creds,
	})
	if err != nil {
		return nil, fmt.Errorf("impersonating %s: %w", c.Impersonate, err)
	}
	return creds, nil
}

func (c Credentials) detect() (*auth.Credentials, error) {
	options := &credentials.DetectOptions{Scopes: []string{scope}}
	if c.File == "" {
		creds, err := credentials.DetectDefault(options)
		if err != nil {
			return nil, fmt.Errorf("%w: there are no Google credentials: set GOOGLE_APPLICATION_CREDENTIALS to a key file, "+
				"run gcloud auth application-default login, or name a credentials file in the job: %w", ErrDenied, err)
		}
		return creds, nil
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials file: %w", err)
	}
	var head struct{ Type string }
	if err := json.Unmarshal(text, &head); err != nil || head.Type == "" {
		return nil, fmt.Errorf("%s is no credentials file: it is not JSON with a type, as a service account's key is", c.File)
	}
	creds, err := credentials.NewCredentialsFromJSON(credentials.CredType(head.Type), text, options)
	if err != nil {
		return nil, fmt.Errorf("loading the credentials file %s: %w", c.File, err)
	}
	return creds, nil
}

// tokens puts a token into each call. The credentials keep it and get a new one before it ends.
type tokens struct{ creds *auth.Credentials }

// GetRequestMetadata is the headers of a call. A failure that may pass is told by a code that is tried again.
func (t tokens) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := t.creds.Token(ctx)
	if err != nil {
		code := codes.Unavailable
		if tokenRefused(err) {
			code = codes.Unauthenticated
		}
		return nil, status.Error(code, "getting a token: "+err.Error())
	}
	headers := map[string]string{"authorization": token.Type + " " + token.Value}
	if token.Type == "" {
		headers["authorization"] = "Bearer " + token.Value
	}
	if project, err := t.creds.QuotaProjectID(ctx); err == nil && project != "" {
		headers["x-goog-user-project"] = project
	}
	return headers, nil
}

// tokenRefused tells whether asking for a token failed for good.
func tokenRefused(err error) bool {
	var answered *auth.Error
	return errors.As(err, &answered) && !answered.Temporary() &&
		answered.Response != nil && answered.Response.StatusCode < http.StatusInternalServerError
}

// RequireTransportSecurity keeps tokens off connections that others can read.
func (t tokens) RequireTransportSecurity() bool { return true }

// signing puts a token into each HTTP request; nil credentials are none.
type signing struct {
	creds *auth.Credentials
	next  *http.Transport
}

// RoundTrip sends a request.
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.creds == nil {
		return s.next.RoundTrip(r)
	}
	headers, err := tokens{s.creds}.GetRequestMetadata(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return s.next.RoundTrip(r)
}

// CloseIdleConnections is what http.Client.CloseIdleConnections asks for.
func (s signing) CloseIdleConnections() { s.next.CloseIdleConnections() }
