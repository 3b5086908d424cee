package literal

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func fixedRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func randomOf(r *rand.Rand, alphabet string, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return out
}

// skewed has bytes of which each is half as frequent as the one before, so that codes come to the limit.
func skewed(r *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		b := 0
		for b < 40 && r.IntN(2) == 0 {
			b++
		}
		out[i] = byte(b)
	}
	return out
}

// page is a page of a Parquet file with random text as PLAIN has it.
func page(r *rand.Rand, n int) []byte {
	var out []byte
	for len(out) < n {
		out = binary.LittleEndian.AppendUint32(out, 962)
		out = append(out, randomOf(r, alphanumerics, 962)...)
	}
	return out[:n]
}

func everyByte() string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return string(all)
}

func mustHold(t *testing.T, frame, want []byte) {
	t.Helper()
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got, err := d.DecodeAll(frame, nil)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(want), err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes came back as %d others", len(want), len(got))
	}
}

func TestFramesHoldWhatWasPutIn(t *testing.T) {
	r := fixedRandom()
	var e Encoder
	kinds := map[string]func(n int) []byte{
		"alphanumerics": func(n int) []byte { return randomOf(r, alphanumerics, n) },
		"two":           func(n int) []byte { return randomOf(r, "ab", n) },
		"one":           func(n int) []byte { return bytes.Repeat([]byte{7}, n) },
		"hex":           func(n int) []byte { return randomOf(r, "0123456789abcdef", n) },
		"every byte":    func(n int) []byte { return randomOf(r, everyByte(), n) },
		"high bytes":    func(n int) []byte { return randomOf(r, everyByte()[128:], n) },
		"skewed":        func(n int) []byte { return skewed(r, n) },
		"skewed high": func(n int) []byte {
			out := skewed(r, n)
			for i := range out {
				out[i] = 255 - out[i]*3
			}
			return out
		},
		"page": func(n int) []byte { return page(r, n) },
		"text": func(n int) []byte { return []byte(strings.Repeat("the quick brown fox ", n/20+1))[:n] },
	}
	sizes := []int{0, 1, 2, 63, 64, 65, 66, 67, 68, 69, 70, 71, 100, 255, 1000, 1 << 10, 16<<10 - 1, blockBytesMax - 1,
		blockBytesMax, blockBytesMax + 1, blockBytesMax + 63, 2*blockBytesMax + 100, 1<<20 + 17}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			var known *Table
			for _, n := range sizes {
				src := kind(n)
				var frame []byte
				frame, known = e.AppendFrame([]byte("before"), src, 0, known)
				mustHold(t, frame[len("before"):], src)
				if len(frame) > FrameBytesMax(n)+len("before") {
					t.Errorf("%d bytes take %d, more than the most of %d", n, len(frame), FrameBytesMax(n))
				}
				mustHold(t, AppendStored(nil, src), src)
			}
		})
	}
}

func TestKnownCodeThatDoesNotFitIsRenewed(t *testing.T) {
	r := fixedRandom()
	var e Encoder
	_, digits := e.AppendFrame(nil, randomOf(r, "0123456789", 1<<16), 0, nil)
	letters := randomOf(r, "abcdefghij", 1<<16)
	frame, table := e.AppendFrame(nil, letters, 0, digits)
	mustHold(t, frame, letters)
	if table == digits {
		t.Error("a code without the bytes that occur was kept")
	}
	uneven := append(bytes.Repeat([]byte("a"), 1<<16), letters[:100]...)
	even := len(frame)
	frame, _ = e.AppendFrame(nil, uneven, 0, table)
	mustHold(t, frame, uneven)
	if len(frame) > even/2 {
		t.Errorf("mostly one byte takes %d bytes, ten equally frequent ones %d", len(frame), even)
	}
	again, same := e.AppendFrame(nil, randomOf(r, "abcdefghij0123456789", 1<<16), 0, table)
	if same == nil || len(again) == 0 {
		t.Fatal("no frame")
	}
	if _, kept := e.AppendFrame(nil, randomOf(r, "abcdefghij0123456789", 1<<16), 0, same); kept != same {
		t.Error("a code that fits was renewed")
	}
}

// A byte that the sample misses has no code: its block gets one, and the frame is right.
func TestByteThatTheSampleMisses(t *testing.T) {
	r := fixedRandom()
	var e Encoder
	_, known := e.AppendFrame(nil, randomOf(r, alphanumerics, 1<<20), 0, nil)
	src := randomOf(r, alphanumerics, 1<<20)
	for _, at := range []int{sampleRun + 1, blockBytesMax + 5000, 1<<20 - sampleRun - 1} {
		with := slices.Clone(src)
		with[at] = '!'
		frame, after := e.AppendFrame(nil, with, 0, known)
		mustHold(t, frame, with)
		if len(frame) > 3*len(src)/4+1000 {
			t.Errorf("with an odd byte at %d: %d bytes", at, len(frame))
		}
		if after.lengths['!'] == 0 || after.lengths['a'] == 0 {
			t.Errorf("the code after it covers %d and %d", after.lengths['!'], after.lengths['a'])
		}
	}
}

// The size is within a percent of what the entropy allows, and no more than what a general encoder makes.
func TestSizes(t *testing.T) {
	r := fixedRandom()
	var e Encoder
	z, err := zstd.NewWriter(nil, zstd.WithAllLitEntropyCompression(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{
		"alphanumerics": randomOf(r, alphanumerics, 1<<20), "hex": randomOf(r, "0123456789abcdef", 1<<20),
		"page": page(r, 1<<20), "skewed": skewed(r, 1<<20),
	} {
		frame, table := e.AppendFrame(nil, src, 0, nil)
		again, _ := e.AppendFrame(nil, src, 0, table)
		general := len(z.EncodeAll(src, nil))
		if float64(len(frame)) > 1.005*float64(general) || len(again) > len(frame)+len(frame)/200 {
			t.Errorf("%s: %d bytes, again %d, a general encoder %d", name, len(frame), len(again), general)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbc"), uint16(3))
	f.Add([]byte(everyByte()), uint16(600))
	f.Fuzz(func(t *testing.T, piece []byte, repeats uint16) {
		src := bytes.Repeat(piece, int(repeats)+1)
		if len(src) > 1<<21 {
			t.Skip("too long")
		}
		var e Encoder
		frame, table := e.AppendFrame(nil, src, 0, nil)
		mustHold(t, frame, src)
		reversed := slices.Clone(piece)
		slices.Reverse(reversed)
		frame, _ = e.AppendFrame(nil, append(reversed, piece...), 0, table)
		mustHold(t, frame, append(reversed, piece...))
	})
}

func BenchmarkFrame(b *testing.B) {
	r := fixedRandom()
	var e Encoder
	for name, src := range map[string][]byte{
		"page": page(r, 1<<20), "bytes": skewed(r, 1<<20), "small": page(r, 32<<10),
		"binary": randomOf(r, everyByte()[:200], 1<<20),
	} {
		b.Run(name+"/firn", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			var out []byte
			var t *Table
			for b.Loop() {
				out, t = e.AppendFrame(out[:0], src, 0, t)
			}
		})
		b.Run(name+"/first", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			var out []byte
			for b.Loop() {
				out, _ = e.AppendFrame(out[:0], src, 0, nil)
			}
		})
		b.Run(name+"/klauspost", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			z, err := zstd.NewWriter(nil, zstd.WithAllLitEntropyCompression(true),
				zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
			if err != nil {
				b.Fatal(err)
			}
			var out []byte
			for b.Loop() {
				out = z.EncodeAll(src, out[:0])
			}
		})
	}
}

// Levels in front of values are stored, and the code does not see them.
func TestHeadIsStored(t *testing.T) {
	r := fixedRandom()
	var e Encoder
	values := randomOf(r, alphanumerics, 200<<10)
	_, known := e.AppendFrame(nil, values, 0, nil)
	for _, head := range []int{1, 7, 300, blockBytesMax, blockBytesMax + 1, 190 << 10} {
		src := append(randomOf(r, everyByte(), head), values[head:]...)
		frame, after := e.AppendFrame(nil, src, head, known)
		mustHold(t, frame, src)
		if after != known {
			t.Errorf("a head of %d bytes changed the code of what follows", head)
		}
	}
	for _, src := range [][]byte{nil, values[:5]} { // nothing but a head
		frame, _ := e.AppendFrame(nil, src, 5, nil)
		mustHold(t, frame, src)
	}
}

// Bytes that are not in pairs, here and there, go by themselves.
func TestRareBytesBesidePairs(t *testing.T) {
	r := fixedRandom()
	src := randomOf(r, alphanumerics, 300<<10)
	for i := range len(src) / 200 {
		src[i*200+r.IntN(200)] = byte(128 + r.IntN(128))
	}
	var h histogram
	h.count(src)
	table, err := newTable(&h)
	if err != nil {
		t.Fatal(err)
	}
	if !table.pairsPay || table.paired[200] {
		t.Fatalf("pairs pay: %t, with a rare byte: %t", table.pairsPay, table.paired[200])
	}
	var e Encoder
	frame, _ := e.AppendFrame(nil, src, 0, table)
	mustHold(t, frame, src)
}
