package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ByteSize is a number of bytes. In a job file it is a whole number with an optional unit: kB, MB, GB and TB are powers
// of 1000, KiB, MiB, GiB and TiB powers of 1024. Case does not matter.
type ByteSize int64

type sizeUnit struct {
	name  string
	bytes int64
}

// sizeUnits lists the units from the smallest.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"kB", 1e3}, {"KiB", 1 << 10},
		{"MB", 1e6}, {"MiB", 1 << 20},
		{"GB", 1e9}, {"GiB", 1 << 30},
		{"TB", 1e12}, {"TiB", 1 << 40},
	}
}

// UnmarshalText reads a size such as 256MB, "1 GiB" or 65536. It refuses signs, fractions, unknown units and overflow.
func (b *ByteSize) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return fmt.Errorf("%q is not a size", s)
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return fmt.Errorf("%q is too large a size", s)
	}
	bytesPerUnit, err := unitBytes(strings.TrimSpace(s[end:]))
	if err != nil {
		return fmt.Errorf("%q is not a size: %w", s, err)
	}
	if n > math.MaxInt64/bytesPerUnit {
		return fmt.Errorf("%q is too large a size", s)
	}
	*b = ByteSize(n * bytesPerUnit)
	return nil
}

func unitBytes(name string) (int64, error) {
	if name == "" || strings.EqualFold(name, "B") {
		return 1, nil
	}
	for _, u := range sizeUnits() {
		if strings.EqualFold(name, u.name) {
			return u.bytes, nil
		}
	}
	return 0, fmt.Errorf("unknown unit %q", name)
}

// MarshalText is String; it never fails.
func (b ByteSize) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String is the shortest text that loses nothing, in the largest such unit: 256MB, 512MiB, 65537.
func (b ByteSize) String() string {
	best := strconv.FormatInt(int64(b), 10)
	if b <= 0 {
		return best
	}
	for _, u := range sizeUnits() {
		if int64(b)%u.bytes != 0 {
			continue
		}
		if s := strconv.FormatInt(int64(b)/u.bytes, 10) + u.name; len(s) <= len(best) {
			best = s
		}
	}
	return best
}
