package parquet

import (
	"math/rand/v2"
	"testing"
)

func TestAutoPicksTheCodecThatIsWorthIt(t *testing.T) {
	pages := bodies(rand.New(rand.NewPCG(5, 6)), 64<<10)
	zeros := make([]byte, 64<<10)
	for _, c := range []struct {
		name string
		kind pageKind
		body []byte
		want Codec
	}{
		{"random bytes", pageOfValues, pages[wayStored], CodecNone},
		{"random letters", pageOfValues, pages[wayLiterals], CodecZstd},
		{"text that repeats", pageOfValues, pages[wayFast], CodecZstd},
		{"zeros", pageOfValues, zeros, CodecZstd},
		{"indices", pageOfIndices, pages[wayStored], CodecZstd},
		{"a short page", pageOfValues, pages[wayStored][:100], CodecZstd},
	} {
		w, k := &workspace{}, &learned{}
		for range 2 { // measured, then remembered
			if got, err := k.pick(w, c.kind, c.body, 0); err != nil || got != c.want {
				t.Errorf("%s: %s, want %s (%v)", c.name, got, c.want, err)
			}
		}
	}
}

// A file keeps the codec that it began with, the next one takes what was learned since.
func TestAutoKeepsTheCodecWithinAFile(t *testing.T) {
	pages := bodies(rand.New(rand.NewPCG(5, 6)), 64<<10)
	o := DefaultOptions()
	o.Codec = CodecAuto
	f := &File{options: o}
	f.options.Pool = NewPool(1 << 20)
	l := &leaf{learned: &learned{}}
	w := &workspace{}
	for _, body := range [][]byte{pages[wayStored], pages[wayLiterals]} {
		if got, err := l.codecOf(f, w, pageOfValues, body, 0); err != nil || got != CodecNone {
			t.Errorf("%s (%v), the file began with %s", got, err, CodecNone)
		}
	}
	l.reset(f.options.Pool)
	l.learned.codec.due = 0
	if got, err := l.codecOf(f, w, pageOfValues, pages[wayLiterals], 0); err != nil || got != CodecZstd {
		t.Errorf("the next file: %s (%v)", got, err)
	}
}
