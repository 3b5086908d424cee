package bigquery

import (
	"testing"

	"go.uber.org/goleak"
)

// No connection, client or stream that was opened anew leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
