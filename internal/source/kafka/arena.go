package kafka

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kgo"
)

// arenaBytes is what batches are decompressed into together: as much as a block.
const arenaBytes = blockBytesMax + blockBytesMax/8

// arena is where batches are decompressed, one after the other, so that a block of many small batches takes one
// buffer. It is the pool of a decompressor (kgo.PoolDecompressBytes). One goroutine owns it at a time.
type arena struct {
	buffers *buffers
	current *buffer
	used    int     // bytes of current
	growth  float64 // how much larger batches of late became, at most
}

// slack is room after a batch's bytes: decoders that do not know the size ask for it before they find the end.
const slack = 1 << 10

// GetDecompressBytes gives room for the batch, if the guess is right.
func (a *arena) GetDecompressBytes(compressed []byte, codec kgo.CompressionCodecType) []byte {
	want := a.guess(compressed, codec) + slack
	if a.current == nil || want > len(a.current.bytes)-a.used {
		a.release()
		a.current = a.buffers.take(max(want, arenaBytes))
	}
	return a.current.bytes[a.used:a.used]
}

// PutDecompressBytes is called for batches that cannot be decompressed: their room is used for the next.
func (*arena) PutDecompressBytes([]byte) {}

// guess is how large a batch becomes: snappy says it, unless a Java client cut it into pieces.
func (a *arena) guess(compressed []byte, codec kgo.CompressionCodecType) int {
	guess := int(a.growth * float64(len(compressed)))
	if codec != kgo.CodecSnappy {
		return guess
	}
	const growthMax = 64 // snappy's own bound, about: what claims more is damaged
	if n, used := binary.Uvarint(compressed); used > 0 && n <= uint64(len(compressed))*growthMax {
		return max(int(n), guess/2)
	}
	return guess
}

// took says what became of a batch: the buffer that it lies in, with a hold, or nil when there was no room.
func (a *arena) took(compressed int, out []byte) *buffer {
	a.growth = max(a.growth*0.99, float64(len(out))/float64(max(compressed, 1)))
	if len(out) == 0 || a.used >= cap(a.current.bytes) || &out[0] != &a.current.bytes[:a.used+1][a.used] {
		return nil
	}
	a.used += len(out)
	a.current.hold()
	return a.current
}

// release begins anew: the buffer is the blocks'.
func (a *arena) release() {
	if a.current != nil {
		a.current.free()
	}
	a.current, a.used = nil, 0
}

// decompress gives a batch's records and a hold on the buffer that they alias, which may be nil.
func (u *unpacker) decompress(in []byte, codec kgo.CompressionCodecType) ([]byte, *buffer, error) {
	out, err := u.decompressor.Decompress(in, codec)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // the caller says which batch
	}
	return out, u.arena.took(len(in), out), nil
}
