package parquet

import "io"

// rope is a growing run of bytes in pieces, so that it never moves what it has.
type rope struct {
	pieces []piece
	bytes  int64
	held   int64 // capacity of the pieces
}

// piece is base[from:]; base is what goes back to the pool.
type piece struct {
	base []byte
	from int
}

// ropePieceBytesMax bounds the unused end of a rope.
const ropePieceBytesMax = 256 << 10

// append copies b. A new piece is as large as all before it, up to the bound, so that small ropes stay small.
func (r *rope) append(p *Pool, b []byte) {
	r.bytes += int64(len(b))
	for len(b) > 0 {
		if k := len(r.pieces); k > 0 {
			last := &r.pieces[k-1]
			n := min(len(b), cap(last.base)-len(last.base))
			last.base = append(last.base, b[:n]...)
			b = b[n:]
		}
		if len(b) > 0 {
			r.add(p.get(int(min(max(int64(len(b)), r.held), ropePieceBytesMax))), 0)
		}
	}
}

// adopt takes ownership of base and appends base[from:] without a copy.
func (r *rope) adopt(base []byte, from int) {
	r.bytes += int64(len(base) - from)
	r.add(base, from)
}

func (r *rope) add(base []byte, from int) {
	r.pieces = append(r.pieces, piece{base, from})
	r.held += int64(cap(base))
}

func (r *rope) writeTo(w io.Writer) error {
	for _, p := range r.pieces {
		if _, err := w.Write(p.base[p.from:]); err != nil {
			return err
		}
	}
	return nil
}

// release empties the rope and gives its pieces back.
func (r *rope) release(p *Pool) {
	for i := range r.pieces {
		p.put(r.pieces[i].base)
		r.pieces[i] = piece{}
	}
	r.pieces, r.bytes, r.held = r.pieces[:0], 0, 0
}
