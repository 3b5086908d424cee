package kafka

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
)

// frame is one answer to a fetch, as it was received, with the batches that the client saw only a stub of.
type frame struct {
	buffer  *buffer
	batches [][]byte // alias the buffer
	open    int      // batches that were not redeemed
}

// frames keeps answers until the reader asks for their batches. The client has at most one answer of each broker that
// was not polled, so that the latest few are enough; one that is gone is fetched again. Safe for concurrent use.
type frames struct {
	buffers *buffers
	token   [16]byte // tells stubs from records, and no producer knows it

	mu          sync.Mutex // guards the fields below
	connections int
	next        uint64
	kept        map[uint64]*frame
	oldest      uint64 // no frame before it is kept
}

// errFrameGone is that a batch was not kept until it was asked for.
var errFrameGone = errors.New("the answer that holds the batch is gone")

func newFrames(b *buffers) *frames {
	f := &frames{buffers: b, kept: make(map[uint64]*frame)}
	_, _ = rand.Read(f.token[:]) // it never fails
	return f
}

// framesKept is how many frames a connection may have kept: one that the client has, one that arrives, and as many
// that the client dropped.
const framesKept = 4

// keep takes a frame that is complete, and its buffer with it. Its id must be the last one given.
func (f *frames) keep(id uint64, kept *frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept.open = len(kept.batches)
	f.kept[id] = kept
	for len(f.kept) > framesKept*max(f.connections, 2) {
		f.drop(f.oldest)
		f.oldest++
	}
}

// drop forgets a frame; f.mu must be held.
func (f *frames) drop(id uint64) {
	if dropped := f.kept[id]; dropped != nil {
		delete(f.kept, id)
		dropped.buffer.free()
	}
}

func (f *frames) newID() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return f.next
}

// connected counts connections that are opened, or with -1 closed.
func (f *frames) connected(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connections += n
}

// stubBytes is the value of a stub's record: the token, the frame's id, the batch's place in it, and its weight.
const stubBytes = 16 + 8 + 4 + 4

// appendStubValue appends what a stub says of its batch. The weight is the bytes that are to be decompressed.
func (f *frames) appendStubValue(to []byte, id uint64, place, weight int) []byte {
	to = append(to, f.token[:]...)
	to = binary.BigEndian.AppendUint64(to, id)
	to = binary.BigEndian.AppendUint32(to, uint32(place))
	return binary.BigEndian.AppendUint32(to, uint32(weight))
}

// weight is the bytes to be decompressed of the batch that a record stands for; 0 when it stands for none.
func (f *frames) weight(value []byte) int {
	if !f.isStub(value) {
		return 0
	}
	return int(binary.BigEndian.Uint32(value[28:]))
}

// isStub says whether a record stands for a batch.
func (f *frames) isStub(value []byte) bool {
	return len(value) == stubBytes && bytes.Equal(value[:len(f.token)], f.token[:])
}

// redeem gives the batch that a stub stands for, once, and a hold on the buffer that it aliases.
func (f *frames) redeem(value []byte) ([]byte, *buffer, error) {
	id, place := binary.BigEndian.Uint64(value[16:]), binary.BigEndian.Uint32(value[24:])
	f.mu.Lock()
	defer f.mu.Unlock()
	from := f.kept[id]
	if from == nil || int(place) >= len(from.batches) {
		return nil, nil, errFrameGone
	}
	from.buffer.hold()
	if from.open--; from.open == 0 {
		f.drop(id)
	}
	return from.batches[place], from.buffer, nil
}
