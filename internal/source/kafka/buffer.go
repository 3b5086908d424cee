package kafka

import (
	"slices"
	"sync"
	"sync/atomic"
)

// pooledBytesMin is the least size that is worth keeping: smaller memory is left to the garbage collector, so that a
// trickle of records does not pin large buffers.
const pooledBytesMin = 64 << 10

// buffer is memory that is used again when all who hold it have let it go. A holder that forgets to leaves it to the
// garbage collector, so that nothing is lost but the saving. Safe for concurrent use, but for the bytes.
type buffer struct {
	bytes   []byte
	holders atomic.Int32
	home    *buffers // nil: not used again
}

func (b *buffer) hold() { b.holders.Add(1) }

// free ends one hold. There is none on nil.
func (b *buffer) free() {
	if b != nil && b.holders.Add(-1) == 0 && b.home != nil {
		b.home.give(b)
	}
}

// buffers keeps buffers that nobody holds. Reading into memory that was used before saves that the runtime clears it
// and the kernel maps it: a fifth of the CPU of reading. Safe for concurrent use.
type buffers struct {
	bytesMax int // of the idle ones

	mu    sync.Mutex // guards the fields below
	idle  []*buffer  // the longest idle first
	bytes int        // of the idle ones
	wipe  bool       // overwrite what was let go, for tests: whoever still uses it reads nonsense
}

// take gives a buffer of n bytes, with one holder. Its content is undefined.
func (p *buffers) take(n int) *buffer {
	if n < pooledBytesMin {
		b := &buffer{bytes: make([]byte, n)}
		b.hold()
		return b
	}
	b := p.fitting(n)
	if b == nil {
		b = &buffer{bytes: make([]byte, roundUp(n)), home: p}
	}
	b.bytes = b.bytes[:n]
	b.hold()
	return b
}

// fitting removes the smallest idle buffer that holds n bytes and is not much larger.
func (p *buffers) fitting(n int) *buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := -1
	for i, b := range p.idle {
		c := cap(b.bytes)
		if c >= n && c <= 4*roundUp(n) && (best < 0 || c < cap(p.idle[best].bytes)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := p.idle[best]
	p.idle = slices.Delete(p.idle, best, best+1)
	p.bytes -= cap(b.bytes)
	return b
}

// give takes a buffer back. The longest idle ones go when there are too many.
func (p *buffers) give(b *buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wipe {
		wipe(b.bytes[:cap(b.bytes)])
	}
	p.idle = append(p.idle, b)
	p.bytes += cap(b.bytes)
	for p.bytes > p.bytesMax {
		p.bytes -= cap(p.idle[0].bytes)
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}

func wipe(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// roundUp makes sizes few, so that a buffer fits many: the next multiple of an eighth of the size.
func roundUp(n int) int {
	step := pooledBytesMin
	for step*16 <= n {
		step *= 2
	}
	return (n + step - 1) / step * step
}
