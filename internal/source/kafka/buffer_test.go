package kafka

import "testing"

func TestBuffersAreUsedAgain(t *testing.T) {
	p := &buffers{bytesMax: 1 << 20}
	first := p.take(100 << 10)
	second := p.take(100 << 10)
	if &first.bytes[0] == &second.bytes[0] {
		t.Fatal("two holders have the same memory")
	}
	first.hold()
	first.free()
	if len(p.idle) > 0 {
		t.Fatal("a buffer is idle that has a holder")
	}
	first.free()
	if third := p.take(90 << 10); third != first || len(third.bytes) != 90<<10 {
		t.Errorf("the idle buffer was not used again")
	}
	first.free()
	if p.take(10<<10).home != nil {
		t.Error("a small buffer is kept")
	}
	if fourth := p.take(pooledBytesMin); fourth != first {
		t.Error("a buffer twice as large was not used")
	}
}

func TestIdleBuffersAreBounded(t *testing.T) {
	p := &buffers{bytesMax: 1 << 20}
	var held []*buffer
	for range 4 {
		held = append(held, p.take(400<<10))
	}
	for _, b := range held {
		b.free()
	}
	if p.bytes > p.bytesMax || len(p.idle) != 2 || p.idle[1] != held[3] {
		t.Errorf("%d buffers of %d bytes are idle, want the last 2", len(p.idle), p.bytes)
	}
	if b := p.take(10 << 20); cap(b.bytes) < 10<<20 {
		t.Error("too small a buffer")
	}
	small := p.take(pooledBytesMin) // not one that is six times as large
	if cap(small.bytes) > 4*pooledBytesMin {
		t.Errorf("%d bytes for %d", cap(small.bytes), pooledBytesMin)
	}
}

func TestSizesAreFewAndNearWhatIsAsked(t *testing.T) {
	for n := pooledBytesMin; n < 64<<20; n += n/7 + 1 {
		if got := roundUp(n); got < n || got > n+max(n/8, pooledBytesMin) {
			t.Errorf("%d is rounded to %d", n, got)
		}
	}
}

func TestFramesAreBounded(t *testing.T) {
	f := newFrames(&buffers{bytesMax: 1 << 30})
	for range 100 {
		f.keep(f.newID(), &frame{buffer: f.buffers.take(pooledBytesMin), batches: [][]byte{nil}})
	}
	if len(f.kept) != 2*framesKept || len(f.buffers.idle) != 1 {
		t.Errorf("%d frames are kept, and %d buffers idle: not all of the others are used again", len(f.kept),
			len(f.buffers.idle))
	}
	stub := f.appendStubValue(nil, 100, 0, 0)
	if _, b, err := f.redeem(stub); err != nil || b.holders.Load() != 1 {
		t.Errorf("redeeming gives %v", err)
	}
	if _, _, err := f.redeem(stub); err == nil {
		t.Error("a batch was redeemed twice")
	}
}
