package table

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"firn/internal/record"

	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	icebergtable "github.com/apache/iceberg-go/table"
)

// Outcome is what became of one Commit. Every Sealed given is in exactly one of Committed and Rejected when Commit
// returns no error; with an error nothing is known of those that are in neither.
type Outcome struct {
	SnapshotID int64        // of the commit; 0 when nothing had to be committed
	Floor      record.Floor // of the table afterwards
	Committed  []string     // Sealed ids whose data is in the table, through this call or before it
	Rejected   []string     // Sealed ids that do not fit the floor; their files are orphans
	// Replaced is the replacements that are in the table, and Stale those that fit it no longer: files that were to go
	// are gone, or deletes came between. The files of stale ones are orphans. What became of one in neither is unknown.
	Replaced, Stale []string
	DeletesDropped  int // delete files that went with the replacements, since no data file needs them any more
	// Lineage is that of the files that were added, by path, in tables of format version 3.
	Lineage   map[string]record.Lineage
	Attempts  int // commits sent or begun
	Conflicts int // attempts that lost to another writer
	Unknown   int // attempts without a clear answer, which were looked up
}

// Errors that a caller may branch on. The message says more.
var (
	ErrReplaced    = errors.New("another table has taken the name")
	ErrRefused     = errors.New("the catalog refused the request")
	ErrTimeout     = errors.New("no attempt succeeded in time")
	ErrNoAssertion = errors.New("the catalog ignores the assertion on the table's head")
	ErrUnsafe      = errors.New("commits to it would not be safe")
)

// verdict is what is known about a request that failed.
type verdict int

const (
	landed       verdict = iota // it did not fail
	conflict                    // it certainly did not land: another writer was first
	unknown                     // it may have landed, or land later
	absent                      // it certainly did not land, and may next time: unreachable, throttled, storage failed
	unauthorized                // it did not land; a fresh login may help
	final                       // it did not land and never will
)

// judge classifies the error of a request to the catalog. Where the library hides the HTTP status, x has it. The safe
// side is unknown: it leads to a look at the table, which costs a request.
func judge(err error, x *exchange) verdict {
	switch {
	case err == nil:
		return landed
	case errors.Is(err, icebergtable.ErrCommitFailed), requirementFailed(err):
		return conflict
	case errors.Is(err, catalog.ErrNoSuchTable), errors.Is(err, catalog.ErrNoSuchNamespace),
		errors.Is(err, rest.ErrEndpointNotSupported), errors.Is(err, ErrReplaced), errors.Is(err, ErrUnsafe):
		return final
	case x.unreached:
		return absent
	case x.status != 0:
		return judgeStatus(x.status)
	case errors.Is(err, rest.ErrOAuthError):
		return unauthorized
	default:
		return unknown
	}
}

// requirementFailed knows a failed requirement by its text: the library's sql and hadoop catalogs return it as it is,
// and some servers answer 400 with it. The text is that of Iceberg for Java and of the library.
func requirementFailed(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "requirement failed")
}

// judgeStatus follows the REST catalog specification of updateTable: 409 is a conflict, 5xx leaves the state unknown.
// That includes 503: a proxy may answer it after the catalog behind it has committed. An expired token has been
// seen answered with 501.
func judgeStatus(status int) verdict {
	const authenticationTimeout = 419 // in the specification, not registered
	switch {
	case status == http.StatusConflict:
		return conflict
	case status == http.StatusUnauthorized, status == authenticationTimeout, status == http.StatusNotImplemented:
		return unauthorized
	case status == http.StatusTooManyRequests:
		return absent
	case status == http.StatusRequestTimeout, status < 400, status >= 500:
		return unknown // below 400 the reply was cut or garbled
	default:
		return final
	}
}

// retryable is an error after which the next attempt may succeed.
type retryable struct {
	verdict verdict
	err     error
}

func (r *retryable) Error() string { return r.err.Error() }
func (r *retryable) Unwrap() error { return r.err }

// refused says that the catalog will not do it, and what to do about it.
func refused(doing, ident string, c *Catalog, x *exchange, err error) error {
	if errors.Is(err, ErrReplaced) {
		return err
	}
	if errors.Is(err, catalog.ErrNoSuchTable) || errors.Is(err, catalog.ErrNoSuchNamespace) || errors.Is(err, ErrUnsafe) {
		return c.explain(doing, ident, err)
	}
	do := "check the request with the catalog's operator"
	switch x.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		do = "check the catalog's credential, and its rights to read and to commit to the table"
	case http.StatusRequestEntityTooLarge:
		do = "expire snapshots, so that the metadata gets smaller, or raise the limit of the catalog or its proxy"
	case http.StatusBadRequest:
		do = "check that the catalog supports the table's format version and properties"
	}
	return fmt.Errorf("%s table %s in catalog %s: %w%s: %w: %s", doing, ident, c, ErrRefused, statusText(x), err, do)
}

func statusText(x *exchange) string {
	if x.status == 0 {
		return ""
	}
	return fmt.Sprintf(" (HTTP %d)", x.status)
}

func replaced(ident string, c *Catalog, was, is string) error {
	return fmt.Errorf("table %s in catalog %s: %w: its UUID was %s and is %s: start again, which begins from what the "+
		"new table holds", ident, c, ErrReplaced, was, is)
}

// ended tells whether the caller's own context is over, as opposed to that of one attempt.
func ended(ctx context.Context) bool { return ctx.Err() != nil }
