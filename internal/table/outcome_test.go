package table

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	icebergtable "github.com/apache/iceberg-go/table"
)

func TestJudge(t *testing.T) {
	other := errors.New("something")
	for name, c := range map[string]struct {
		err    error
		status int
		want   verdict
	}{
		"no error":             {nil, 200, landed},
		"sql conflict":         {fmt.Errorf("%w: moved", icebergtable.ErrCommitFailed), 0, conflict},
		"sql requirement":      {errors.New("requirement failed: branch main has changed"), 0, conflict},
		"server's requirement": {errors.New("CommitFailedException: Requirement failed: branch x"), 400, conflict},
		"409":                  {rest.ErrCommitFailed, 409, conflict},
		"409, reply not JSON":  {other, 409, conflict},
		"no table":             {catalog.ErrNoSuchTable, 404, final},
		"endpoint not there":   {rest.ErrEndpointNotSupported, 0, final},
		"400":                  {rest.ErrBadRequest, 400, final},
		"403":                  {rest.ErrForbidden, 403, final},
		"413":                  {rest.ErrRESTError, 413, final},
		"422":                  {rest.ErrRESTError, 422, final},
		"401":                  {rest.ErrUnauthorized, 401, unauthorized},
		"419":                  {rest.ErrAuthorizationExpired, 419, unauthorized},
		"501 for a dead token": {other, 501, unauthorized}, // C73
		"no token to be had":   {rest.ErrOAuthError, 0, unauthorized},
		"429":                  {rest.ErrRESTError, 429, absent},
		"408":                  {rest.ErrRESTError, 408, unknown},
		"500":                  {rest.ErrCommitStateUnknown, 500, unknown},
		"503":                  {rest.ErrCommitStateUnknown, 503, unknown},
		"504, reply not JSON":  {other, 504, unknown},
		"599":                  {rest.ErrServerError, 599, unknown},
		"200, reply cut":       {rest.ErrRESTError, 200, unknown},
		"no reply":             {other, 0, unknown},
		"sqlite: locked":       {errors.New("database is locked"), 0, unknown},
	} {
		if got := judge(c.err, &exchange{status: c.status}); got != c.want {
			t.Errorf("%s: verdict %d, want %d", name, got, c.want)
		}
	}
	if got := judge(other, &exchange{unreached: true}); got != absent {
		t.Errorf("no connection: verdict %d, want %d", got, absent)
	}
}
