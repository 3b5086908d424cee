package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// bodies are pages of values, by the way that suits them.
func bodies(r *rand.Rand, n int) map[way][]byte {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	out := map[way][]byte{}
	for len(out[wayLiterals]) < n {
		out[wayLiterals] = append(out[wayLiterals], letters[r.IntN(len(letters))])
		out[wayStored] = append(out[wayStored], byte(r.IntN(256)))
	}
	for len(out[wayFast]) < n {
		out[wayFast] = fmt.Appendf(out[wayFast], "GET /api/v1/orders/%d HTTP/1.1 Mozilla/5.0 (Linux x86_64)", r.IntN(1000))
	}
	return out
}

func mustUnzstd(t *testing.T, frame, want []byte) {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got, err := d.DecodeAll(frame, nil)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back as %d others: %v", len(want), len(got), err)
	}
}

func TestColumnGoesTheWayThatPays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for want, body := range bodies(r, 64<<10) {
		w, k := &workspace{}, &learned{}
		for i := range 3 { // the first page is judged, the next ones go the way
			frame, err := w.appendPage(k, pageOfValues, 0, []byte("before"), body, 0)
			if err != nil {
				t.Fatal(err)
			}
			mustUnzstd(t, frame[len("before"):], body)
			general, err := w.appendZstd(0, nil, body)
			if err != nil {
				t.Fatal(err)
			}
			if most := float64(len(general)) + 2*worth*float64(len(body)) + 100; float64(len(frame)) > most {
				t.Errorf("way %d, page %d: %d bytes, %d by a search for matches", want, i, len(frame), len(general))
			}
		}
		if got := k.kinds[pageOfValues].way; got != want {
			t.Errorf("a page that suits way %d goes way %d", want, got)
		}
		if got := k.kinds[pageOfDictionary].way; got != wayGeneral {
			t.Errorf("a kind of pages that was not seen goes way %d", got)
		}
	}
}

// A column whose data changes is judged again, after judgeBytes at the latest.
func TestColumnIsJudgedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pages := bodies(r, 1<<20)
	w, k := &workspace{}, &learned{}
	if _, err := w.appendPage(k, pageOfValues, 0, nil, pages[wayStored], 0); err != nil {
		t.Fatal(err)
	}
	text := pages[wayFast]
	for range judgeBytes/len(text) + 1 {
		frame, err := w.appendPage(k, pageOfValues, 0, nil, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		mustUnzstd(t, frame, text)
	}
	if got := k.kinds[pageOfValues].way; got != wayFast {
		t.Errorf("text still goes way %d", got)
	}
}

// A column that stays what it is is judged ever less often, one that has changed as often as a new one.
func TestJudgementsBackOffWhileTheyAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	w, k, body := &workspace{}, &learned{}, bodies(r, 64<<10)
	judge := func(kind way) int64 {
		t.Helper()
		p := &k.kinds[pageOfValues]
		p.due = 0
		if _, err := w.appendPage(k, pageOfValues, 0, nil, body[kind], 0); err != nil {
			t.Fatal(err)
		}
		if p.way != kind {
			t.Fatalf("way %d, want %d", p.way, kind)
		}
		return p.due
	}
	for i, step := range []struct {
		body way
		want int64
	}{
		{wayLiterals, judgeBytes}, {wayLiterals, 2 * judgeBytes}, {wayLiterals, 4 * judgeBytes}, {wayStored, judgeBytes},
		{wayStored, 2 * judgeBytes}, {wayStored, 4 * judgeBytes}, {wayStored, 8 * judgeBytes},
		{wayStored, judgeBytesMax}, {wayStored, judgeBytesMax}, {wayFast, judgeBytes},
	} {
		if due := judge(step.body); due != step.want {
			t.Errorf("judgement %d: the next after %d bytes, want %d", i, due, step.want)
		}
	}
}

func TestLevelAskedForIsUsed(t *testing.T) {
	var text []byte
	for i := range 4000 {
		text = fmt.Appendf(text, "%d %s;", i*i%977, strings.Repeat("ab", i%17))
	}
	w := &workspace{}
	best := len(text)
	for _, level := range []int{1, 3, 9, 19} {
		k := &learned{}
		var frame []byte
		for range 2 {
			var err error
			if frame, err = w.appendPage(k, pageOfValues, level, nil, text, 0); err != nil {
				t.Fatal(err)
			}
		}
		plain, err := w.appendZstd(level, nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(plain, frame) {
			t.Errorf("level %d: %d bytes, %d by that level", level, len(frame), len(plain))
		}
		best = min(best, len(frame))
		mustUnzstd(t, frame, text)
	}
	if first, _ := w.appendZstd(1, nil, text); best >= len(first) {
		t.Errorf("no level makes fewer than the %d bytes of the first", len(first))
	}
}

// Files of one pool write the same column at once.
func TestColumnsAreLearnedOfByManyAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pages := bodies(r, 16<<10)
	p := NewPool(1 << 20)
	column := p.learnedOf(&leafType{id: 7, dotted: "a.b"})
	if p.learnedOf(&leafType{id: 7, dotted: "a.b"}) != column || p.learnedOf(&leafType{id: 8, dotted: "a.b"}) == column {
		t.Fatal("a column is not known by its id and name")
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			w := p.borrow()
			defer p.giveBack(w)
			for i := range 50 {
				body := binary.LittleEndian.AppendUint64(nil, uint64(i*g))
				for _, page := range pages {
					body = append(body, page[:i*100]...)
				}
				frame, err := w.appendPage(column, pageOfValues, 0, nil, body, 0)
				if err != nil {
					t.Error(err)
					return
				}
				mustUnzstd(t, frame, body)
			}
		})
	}
	wait.Wait()
}
