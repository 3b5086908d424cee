package table

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// s3Server is an S3 store in memory with one bucket, as far as a hadoop catalog and its tables need it. It checks no
// signatures. It is safe for concurrent use.
type s3Server struct {
	careless bool // replaces objects that it was told not to replace

	// meddle gets each put on a condition, in place of the server. Calling do with a recorder hides the answer.
	meddle func(w http.ResponseWriter, r *http.Request, do func(http.ResponseWriter))

	mu       sync.Mutex // guards the fields below
	objects  map[string][]byte
	requests map[string]int // by method, LIST for a listing
}

func serveS3(t *testing.T) (*s3Server, CatalogConfig) {
	t.Helper()
	s := &s3Server{objects: map[string][]byte{}, requests: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, s3Config(server.URL, "bucket", "key", "secret", "us-east-1")
}

// s3Config is a hadoop catalog below a prefix of its own.
func s3Config(endpoint, bucket, key, secret, region string) CatalogConfig {
	return CatalogConfig{
		Type: "hadoop", Warehouse: "s3://" + bucket + "/t" + uuid.NewString()[:8],
		Properties: map[string]string{
			"s3.endpoint": endpoint, "s3.region": region, "s3.access-key-id": key, "s3.secret-access-key": secret,
		},
	}
}

// realS3 is a hadoop catalog in a store that runs outside the test.
func realS3(t *testing.T) CatalogConfig {
	t.Helper()
	endpoint := os.Getenv("FIRN_TEST_S3_ENDPOINT")
	if endpoint == "" {
		t.Skip("FIRN_TEST_S3_ENDPOINT is not set: it names a running S3 store")
	}
	return s3Config(endpoint, os.Getenv("FIRN_TEST_S3_BUCKET"), os.Getenv("FIRN_TEST_S3_ACCESS_KEY"),
		os.Getenv("FIRN_TEST_S3_SECRET_KEY"), os.Getenv("FIRN_TEST_S3_REGION"))
}

// realGCS is the same in an emulator of GCS.
func realGCS(t *testing.T) CatalogConfig {
	t.Helper()
	endpoint := os.Getenv("FIRN_TEST_GCS_ENDPOINT")
	if endpoint == "" {
		t.Skip("FIRN_TEST_GCS_ENDPOINT is not set: it names a running emulator of GCS")
	}
	return CatalogConfig{
		Type: "hadoop", Warehouse: "gs://" + os.Getenv("FIRN_TEST_GCS_BUCKET") + "/t" + uuid.NewString()[:8],
		Properties: map[string]string{
			"gcs.endpoint": endpoint + "/storage/v1/", "gcs.no-auth": "true", "gcs.usejsonapi": "true",
		},
	}
}

// count gives the requests since the last call.
func (s *s3Server) count() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.requests
	s.requests = map[string]int{}
	return n
}

// keys gives the names that hold the text, sorted.
func (s *s3Server) keys(text string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.objects)), func(k string) bool {
		return !strings.Contains(k, text)
	})
}

// put sets an object, and takes it away when there is no content.
func (s *s3Server) put(key string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if content == nil {
		delete(s.objects, key)
		return
	}
	s.objects[key] = content
}

func (s *s3Server) get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key]
}

func (s *s3Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.meddle != nil && r.Header.Get("If-None-Match") != "" {
		s.meddle(w, r, func(w http.ResponseWriter) { s.serve(w, r) })
		return
	}
	s.serve(w, r)
}

func (s *s3Server) serve(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/bucket")
	key = strings.TrimPrefix(key, "/")
	body, err := s3Body(r)
	if err != nil {
		s3Fail(w, http.StatusBadRequest, "InvalidRequest")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	content, exists := s.objects[key]
	kind := r.Method
	if key == "" {
		kind = "LIST"
	}
	s.requests[kind]++
	switch {
	case key == "":
		s.list(w, r)
	case r.Method == http.MethodPut && exists && r.Header.Get("If-None-Match") == "*" && !s.careless:
		s3Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut:
		s.objects[key] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !exists:
		s3Fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", etag(content))
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(content))
	}
}

func etag(content []byte) string {
	sum := md5.Sum(content) // as S3 does
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func s3Fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
}

// s3Body reads a body that may come in chunks with trailers of the kind that S3 has.
func s3Body(r *http.Request) ([]byte, error) {
	if !strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		return io.ReadAll(r.Body)
	}
	var body []byte
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		length, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(length, 16, 64)
		if err != nil || n == 0 {
			_, _ = io.Copy(io.Discard, in)
			return body, err
		}
		chunk := make([]byte, n+2) // with the line end
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		body = append(body, chunk[:n]...)
	}
}

type s3Object struct {
	Key          string
	Size         int
	ETag         string
	LastModified time.Time
}

// list answers ListObjectsV2, in pages of three so that there are several.
func (s *s3Server) list(w http.ResponseWriter, r *http.Request) {
	const pageObjects = 3
	q := r.URL.Query()
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []s3Object
		CommonPrefixes        []struct{ Prefix string }
	}
	groups := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		rest, ok := strings.CutPrefix(key, q.Get("prefix"))
		if !ok || key <= q.Get("continuation-token") {
			continue
		}
		if d := q.Get("delimiter"); d != "" && strings.Contains(rest, d) {
			head, _, _ := strings.Cut(rest, d)
			if group := q.Get("prefix") + head + d; !groups[group] {
				groups[group] = true
				page.CommonPrefixes = append(page.CommonPrefixes, struct{ Prefix string }{group})
			}
			continue
		}
		if len(page.Contents) == pageObjects {
			page.IsTruncated = true
			page.NextContinuationToken = page.Contents[pageObjects-1].Key
			break
		}
		page.Contents = append(page.Contents, s3Object{key, len(s.objects[key]), etag(s.objects[key]), time.Unix(1, 0)})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(page)
}
