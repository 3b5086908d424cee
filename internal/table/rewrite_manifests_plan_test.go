package table

import (
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// Values of each type that a partition field can have are in the type's order, nulls first.
func TestComparePartition(t *testing.T) {
	decimal := func(n int64) iceberg.DecimalLiteral {
		return iceberg.DecimalLiteral{Val: decimal128.FromI64(n), Scale: 2}
	}
	for _, ascending := range [][]any{
		{nil, false, true},
		{nil, int32(-3), int32(0), int64(7), int64(1 << 40)},
		{nil, float32(-1.5), float32(0), 2.5},
		{nil, iceberg.Date(-1), iceberg.Date(20000)},
		{nil, iceberg.Time(0), iceberg.Time(5)},
		{nil, iceberg.Timestamp(-9), iceberg.Timestamp(10)},
		{nil, iceberg.TimestampNano(-9), iceberg.TimestampNano(10)},
		{nil, "", "a", "b", "ba"},
		{nil, []byte{}, []byte{1}, []byte{1, 0}, []byte{255}},
		{nil, uuid.UUID{}, uuid.UUID{1}},
		{nil, decimal(-5), decimal(3), decimal(200)},
		{nil, iceberg.Decimal(decimal(-5)), iceberg.Decimal(decimal(3))},
	} {
		for i, a := range ascending {
			for j, b := range ascending {
				got := comparePartition(widened(a), widened(b))
				if want := big.NewInt(int64(i)).Cmp(big.NewInt(int64(j))); got != want {
					t.Errorf("%T %v against %T %v: %d, want %d", a, a, b, b, got, want)
				}
			}
		}
	}
}
