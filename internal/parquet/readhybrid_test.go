package parquet

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHybridReader reads what the writers of levels and of indices write, in parts of any size.
func TestHybridReader(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(1, 32).Draw(rt, "width")
		number := rapid.Uint32Range(0, uint32(uint64(1)<<width-1))
		var want []uint32
		for range rapid.IntRange(0, 20).Draw(rt, "runs") {
			want = append(want, slices.Repeat([]uint32{number.Draw(rt, "value")}, rapid.IntRange(1, 40).Draw(rt, "run"))...)
			want = append(want, rapid.SliceOfN(number, 0, 30).Draw(rt, "values")...)
		}
		h := newHybrid(nil, width)
		for _, v := range want {
			h.add(v, 1)
		}
		half := rapid.IntRange(0, len(want)).Draw(rt, "half")
		for _, b := range [][]byte{
			h.finish(),
			appendIndexRuns(nil, want, width, false),
			appendIndexRuns(appendIndexRuns(nil, want[:half], width, true), want[half:], width, false),
		} {
			r, err := newHybridReader(b, width)
			if err != nil {
				rt.Fatal(err)
			}
			got := make([]uint32, len(want))
			for rest := got; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(rt, "part")
				if err := r.fill(rest[:n]); err != nil {
					rt.Fatal(err)
				}
				rest = rest[n:]
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("read %d, want %d", got, want)
			}
		}
	})
}

func TestHybridReaderOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		b     []byte
		width int
		want  []uint32
	}{
		"no bits":              {[]byte{6 << 1}, 0, []uint32{0, 0, 0, 0, 0, 0}},
		"no bits, packed":      {[]byte{1<<1 | 1}, 0, []uint32{0, 0, 0, 0, 0, 0, 0, 0}},
		"empty runs":           {[]byte{0, 7, 1, 2 << 1, 5}, 8, []uint32{5, 5}},
		"cut last group":       {[]byte{1<<1 | 1, 0x21, 0x43}, 4, []uint32{1, 2, 3, 4}},
		"long head":            {[]byte{0x80 | 4<<1, 0, 9}, 8, []uint32{9, 9, 9, 9}},
		"a run of three bytes": {[]byte{1 << 1, 1, 2, 3}, 20, []uint32{0x30201}},
	} {
		r, err := newHybridReader(c.b, c.width)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint32, len(c.want))
		if err := r.fill(got); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: read %d, want %d, error %v", name, got, c.want, err)
		}
		if err := r.fill(make([]uint32, 9)); c.width > 0 && err == nil {
			t.Errorf("%s: no error at the end", name)
		}
	}
	if _, err := newHybridReader(nil, 33); err == nil {
		t.Error("no error for numbers of 33 bits")
	}
}

func TestCountLevels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var levels []uint8
		want := 0
		for range rapid.IntRange(0, 9).Draw(rt, "runs") {
			level, n := rapid.Uint8Range(0, 3).Draw(rt, "level"), rapid.IntRange(1, 3000).Draw(rt, "run")
			levels = append(levels, slices.Repeat([]uint8{level}, n)...)
			if level == 3 {
				want += n
			}
		}
		b := appendBareLevels(nil, 3, 0, levels)
		if got, err := countLevels(b, 3, len(levels)); err != nil || got != want {
			rt.Fatalf("%d of %d levels, want %d, error %v", got, len(levels), want, err)
		}
		if _, err := countLevels(b, 3, len(levels)+8); err == nil {
			rt.Fatal("no error for more levels than there are")
		}
	})
}
