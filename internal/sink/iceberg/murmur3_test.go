package iceberg

import "testing"

// The values of the Iceberg spec, appendix B "32-bit hash requirements".
func TestHashesOfTheSpec(t *testing.T) {
	if got := int32(hashLong(34)); got != 2017239379 {
		t.Errorf("long 34: %d", got)
	}
	f := func(name string, in []byte, want int32) {
		t.Helper()
		if got := int32(hashBytes(in)); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	f("string iceberg", []byte("iceberg"), 1210000089)
	f("binary 00 01 02 03", []byte{0, 1, 2, 3}, -188683207)
	f("decimal 14.20", []byte{0x05, 0x8c}, -500754589)
	f("uuid", []byte{0xf7, 0x9c, 0x3e, 0x09, 0x67, 0x7c, 0x4b, 0xbd, 0xa4, 0x79, 0x3f, 0x34, 0x9c, 0xb7, 0x85, 0xe7},
		1488055340)
	if got, want := int32(hashLong(17486)), int32(-653330422); got != want {
		t.Errorf("date 2017-11-16: %d, want %d", got, want)
	}
	if got, want := int32(hashLong(1510871468000000)), int32(-2047944441); got != want {
		t.Errorf("timestamp: %d, want %d", got, want)
	}
	if got, want := int32(hashLong(81068000000)), int32(-662762989); got != want {
		t.Errorf("time: %d, want %d", got, want)
	}
}
