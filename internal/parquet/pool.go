package parquet

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"sync"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/literal"
)

// Pool holds what Files need only now and then: encoders, scratch space, and idle buffers. It is safe for concurrent
// use, and one Pool should serve all Files of a process. Buffers are in powers of two, so that a column grows by
// swapping its buffer for the next size and no size is ever garbage.
type Pool struct {
	mu           sync.Mutex
	free         [bufferClasses][][]byte // guarded by mu
	idleBytes    int64                   // guarded by mu
	idleBytesMax int64
	workspaces   []*workspace           // guarded by mu
	columns      map[columnKey]*learned // guarded by mu
	seed         maphash.Seed           // of dictionaries
	key          uint64                 // likewise, for numbers
}

const (
	bufferBytesMin      = 512
	bufferClasses       = 22 // up to 512 << 21 = 1 GiB
	privateIdleBytesMax = 4 << 20
)

// NewPool makes a pool that keeps at most idleBytesMax of idle buffers. Encoders come on top: one set for each
// goroutine that is inside a File at the same time (zstd: a few MB).
func NewPool(idleBytesMax int64) *Pool {
	p := &Pool{idleBytesMax: idleBytesMax, seed: maphash.MakeSeed()}
	p.key = maphash.Bytes(p.seed, nil)
	return p
}

// bufferClass is the smallest class that holds n bytes.
func bufferClass(n int) int {
	if n <= bufferBytesMin {
		return 0
	}
	return bits.Len(uint(n-1)) - bits.Len(bufferBytesMin-1)
}

// get returns an empty buffer of capacity at least n.
func (p *Pool) get(n int) []byte {
	class := bufferClass(n)
	if class >= bufferClasses {
		return make([]byte, 0, n)
	}
	p.mu.Lock()
	if k := len(p.free[class]); k > 0 {
		b := p.free[class][k-1]
		p.free[class][k-1] = nil
		p.free[class] = p.free[class][:k-1]
		p.idleBytes -= int64(cap(b))
		p.mu.Unlock()
		return b
	}
	p.mu.Unlock()
	return make([]byte, 0, bufferBytesMin<<class)
}

// put takes ownership of b. What is not of a class, or beyond the limit, is left to the garbage collector.
func (p *Pool) put(b []byte) {
	class := bufferClass(cap(b))
	if class >= bufferClasses || cap(b) != bufferBytesMin<<class {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idleBytes+int64(cap(b)) > p.idleBytesMax {
		return
	}
	p.idleBytes += int64(cap(b))
	p.free[class] = append(p.free[class], b[:0])
}

// grow returns b with room for n more bytes, in another buffer where it must.
func (p *Pool) grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	g := append(p.get(len(b)+n), b...)
	p.put(b)
	return g
}

// workspace is what one goroutine needs while it is inside a File.
type workspace struct {
	encoders
	decoders decoders
	levels   []vector // by depth of nesting
	rows     []int32
	values   []byte       // PLAIN values on their way into a dictionary
	levelBuf []byte       // encoded levels of a page
	buffer   bytes.Buffer // what encode returns
	literals literal.Encoder
	trial    []byte // a page's frame, to compare with another
	thrift   *thrift.Encoder

	meta        format.FileMetaData // these are written over by each file
	columnIndex format.ColumnIndex
	offsetIndex format.OffsetIndex
}

func (p *Pool) borrow() *workspace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := len(p.workspaces); k > 0 {
		w := p.workspaces[k-1]
		p.workspaces = p.workspaces[:k-1]
		return w
	}
	w := &workspace{}
	w.thrift = thrift.NewEncoder((&thrift.CompactProtocol{}).NewWriter(&w.buffer))
	return w
}

func (p *Pool) giveBack(w *workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workspaces = append(p.workspaces, w)
}

// encode returns v in Thrift's compact protocol. The bytes are good until the next call.
func (w *workspace) encode(v any) ([]byte, error) {
	w.buffer.Reset()
	if err := w.thrift.Encode(v); err != nil {
		return nil, err
	}
	return w.buffer.Bytes(), nil
}
