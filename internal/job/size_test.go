package job

import (
	"testing"

	"pgregory.net/rapid"
)

func TestByteSizeUnmarshalText(t *testing.T) {
	good := map[string]ByteSize{
		"0": 0, "65536": 65536, "7B": 7, "256MB": 256e6, "256 mb": 256e6, " 1GiB ": 1 << 30, "3kb": 3000, "3KiB": 3072,
		"2TB": 2e12, "8388607TiB": 8388607 << 40, "9223372036854775807": 1<<63 - 1,
	}
	for text, want := range good {
		var got ByteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1", "+1", "1.5GB", "1PB", "1 M B", "9223372036854775808", "8388608TiB",
		"0x10", "1e3"} {
		got := ByteSize(77)
		if err := got.UnmarshalText([]byte(text)); err == nil || got != 77 {
			t.Errorf("%q: got %d, %v, want an error and no change", text, got, err)
		}
	}
}

func TestByteSizeString(t *testing.T) {
	for size, want := range map[ByteSize]string{
		0: "0", 5: "5", 1000: "1kB", 1024: "1KiB", 65536: "64KiB", 65537: "65537", 256e6: "256MB", 512 << 20: "512MiB",
		16e6: "16MB", 1 << 40: "1TiB", 1500e6: "1500MB", -1: "-1",
	} {
		if got := size.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(size), got, want)
		}
	}
}

func TestByteSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom(sizeUnits()).Draw(t, "unit").bytes
		want := ByteSize(rapid.Int64Range(0, 1<<62/unit).Draw(t, "n") * unit)
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got ByteSize
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Fatalf("%d became %s became %d, %v", int64(want), text, int64(got), err)
		}
	})
}
