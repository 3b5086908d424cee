package record

import (
	"strings"
	"testing"
)

func TestRangesThatAreNone(t *testing.T) {
	at := TopicPartition{Topic: "orders", Partition: 3}
	good := Range{TopicPartition: at, From: 5, To: 6}
	for name, c := range map[string]struct {
		ranges []Range
		want   []string // parts of the error
	}{
		"one":      {[]Range{good}, nil},
		"none":     {nil, []string{"flush f has no source range"}},
		"empty":    {[]Range{good, {TopicPartition: at, From: 5, To: 5}}, []string{"5 to 5 of orders/3"}},
		"negative": {[]Range{{TopicPartition: at, From: -1, To: 5}}, []string{"-1 to 5"}},
		"two":      {[]Range{{TopicPartition: at, From: 9, To: 8}, {TopicPartition: at}}, []string{"9 to 8", "0 to 0"}},
	} {
		s := Sealed{ID: "f", Ranges: c.ranges}
		err := s.CheckRanges()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, part := range c.want {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v has not %q", name, err, part)
			}
		}
	}
}
