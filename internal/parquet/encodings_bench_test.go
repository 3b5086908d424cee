package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkEncode turns a page of PLAIN values into other encodings.
func BenchmarkEncode(b *testing.B) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	var ints32, ints64, doubles, texts []byte
	for i := range n {
		ints32 = binary.LittleEndian.AppendUint32(ints32, uint32(i*10+rng.IntN(1000)))
		ints64 = binary.LittleEndian.AppendUint64(ints64, uint64(i*1000+rng.IntN(90000)))
		doubles = binary.LittleEndian.AppendUint64(doubles, math.Float64bits(rng.Float64()))
		text := fmt.Sprintf("https://example.org/%d/%d", i/100, rng.IntN(1000))
		texts = append(binary.LittleEndian.AppendUint32(texts, uint32(len(text))), text...)
	}
	out, lengths := make([]byte, 0, 2*len(texts)), make([]byte, 0, 8*n)
	for _, c := range []struct {
		name   string
		plain  []byte
		encode func(plain []byte) []byte
	}{
		{"deltas of 4 bytes", ints32, func(plain []byte) []byte { return appendDeltas(out, plain, 4) }},
		{"deltas of 8 bytes", ints64, func(plain []byte) []byte { return appendDeltas(out, plain, 8) }},
		{"streams of 4 bytes", ints32, func(plain []byte) []byte { return appendStreams(out, plain, 4) }},
		{"streams of 8 bytes", doubles, func(plain []byte) []byte { return appendStreams(out, plain, 8) }},
		{"delta lengths", texts, func(plain []byte) []byte { return appendDeltaLengths(out, plain, lengths) }},
		{"delta byte arrays", texts, func(plain []byte) []byte { return appendDeltaByteArrays(out, plain, lengths) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.plain)))
			b.ReportAllocs()
			size, start := 0, cpuSeconds(b)
			for b.Loop() {
				size = len(c.encode(c.plain))
			}
			b.ReportMetric(float64(b.N)*float64(len(c.plain))/1e6/(cpuSeconds(b)-start), "MB/cpu-s")
			b.ReportMetric(float64(size)/float64(len(c.plain)), "out/in")
		})
	}
}
