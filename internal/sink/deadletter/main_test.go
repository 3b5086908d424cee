package deadletter

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"firn/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rejected makes a rejected record with every part set.
func rejected(offset int64, value string) record.Rejected {
	return record.Rejected{
		TopicPartition: record.TopicPartition{Topic: "orders", Partition: 3},
		Record: record.Record{
			Offset: offset, Timestamp: time.UnixMilli(1_700_000_000_123), Key: []byte("k"), Value: []byte(value),
			Headers: []record.Header{{Key: "h", Value: []byte("1")}, {Key: "empty", Value: []byte{}}, {Key: "null"}},
		},
		Field:  "price",
		Reason: "not a number",
	}
}
