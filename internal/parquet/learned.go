package parquet

import (
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"firn/internal/literal"
)

// learned is what the pages of a column taught about compressing the next ones. Files of one Pool share it, by the
// column's id and name. It is safe for concurrent use.
type learned struct {
	mu    sync.Mutex
	kinds [pageKinds]learnedPages // guarded by mu
	codec learnedCodec            // guarded by mu

	encoding encodingChoice
}

// learnedPages is about the pages of one kind.
type learnedPages struct {
	way   way
	due   int64 // bytes until the way is judged again
	pause int64 // what due was after the judgement before
	table *literal.Table
}

// columnKey names a column.
type columnKey struct {
	id   int
	name string
}

// learnedOf finds what is known of a column.
func (p *Pool) learnedOf(t *leafType) *learned {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := columnKey{t.id, t.dotted}
	if p.columns[k] == nil {
		if p.columns == nil {
			p.columns = map[columnKey]*learned{}
		}
		p.columns[k] = &learned{}
	}
	return p.columns[k]
}

// pageKind sets pages apart whose bytes have nothing in common.
type pageKind int

const (
	pageOfValues pageKind = iota
	pageOfIndices
	pageOfDictionary
	pageOfDeltas
	pageOfStreams
	pageKinds
)

func kindOf(e format.Encoding) pageKind {
	switch e {
	case format.Plain:
		return pageOfValues
	case format.RLEDictionary:
		return pageOfIndices
	case format.ByteStreamSplit:
		return pageOfStreams
	default:
		return pageOfDeltas
	}
}

// way is how a zstd frame is made.
type way uint8

const (
	wayGeneral  way = iota // search for matches as well as the level says
	wayFast                // search for matches as fast as it goes
	wayLiterals            // only code the bytes
	wayStored              // as it is
)

const (
	// judgeBytes is how much of a column goes by until its way is judged again, which makes a page three times. It is
	// twice as much each time that the judgement stays what it was, up to judgeBytesMax.
	judgeBytes    = 64 << 20
	judgeBytesMax = 1 << 30
	// judgeBytesMin is the least page to judge by.
	judgeBytesMin = 4 << 10
	// worth is the part of a page that a slower way must save. The ways differ in speed by a factor of two to four.
	worth = 0.02
	// worthOfLevel is the same where a level was asked for: then size is what matters.
	worthOfLevel = 0.002
)

// appendPage appends a page's frame, made in the way that its column was found to need. Level 0 is none asked for.
// The first head bytes of the page are its levels.
func (w *workspace) appendPage(k *learned, kind pageKind, level int, dst, body []byte, head int) ([]byte, error) {
	k.mu.Lock()
	p := &k.kinds[kind]
	p.due -= int64(len(body))
	judge := p.due < 0 && len(body) >= judgeBytesMin
	if judge {
		p.due = judgeBytes // others go on by what is known
	}
	way, table := p.way, p.table
	k.mu.Unlock()
	if judge {
		return w.judge(k, kind, level, dst, body, head)
	}
	switch way {
	case wayLiterals:
		out, known := w.literals.AppendFrame(dst, body, head, table)
		if known != table {
			k.learn(kind, wayLiterals, known)
		}
		return out, nil
	case wayStored:
		return literal.AppendStored(dst, body), nil
	case wayFast:
		return w.appendZstd(zstdLevelFast, dst, body)
	default:
		return w.appendZstd(level, dst, body)
	}
}

func (k *learned) learn(kind pageKind, way way, table *literal.Table) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kinds[kind].way, k.kinds[kind].table = way, table
}

// judged is learn after a judgement. One that says what the one before said makes the next come later.
func (k *learned) judged(kind pageKind, way way, table *literal.Table) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := &k.kinds[kind]
	p.pause = pauseAfter(p.pause, way == p.way)
	p.way, p.table, p.due = way, table, p.pause
}

// pauseAfter is how many bytes go by until the next judgement, when so many did before the last.
func pauseAfter(before int64, same bool) int64 {
	if !same || before == 0 {
		return judgeBytes
	}
	return min(2*before, judgeBytesMax)
}

// judge makes the frame in every way, returns the smallest and learns which way pays. It asks of a slower way that it
// saves something: from stored over literals and fast to general.
func (w *workspace) judge(k *learned, kind pageKind, level int, dst, body []byte, head int) ([]byte, error) {
	least := int(worth * float64(len(body)))
	if level > 0 {
		least = int(worthOfLevel * float64(len(body)))
	}
	chosen, size := wayStored, len(body)
	try := func(way way, bytes int) {
		if bytes < size-least {
			chosen, size = way, bytes
		}
	}
	coded, table := w.literals.AppendFrame(w.trial[:0], body, head, nil)
	w.trial = coded
	try(wayLiterals, len(coded))
	start := len(dst)
	out := append(dst, coded...)
	searches := []way{wayFast, wayGeneral}
	if level > 0 {
		searches = searches[1:]
	}
	for _, search := range searches {
		var bytes int
		var err error
		if out, bytes, err = w.smaller(search, level, out, start, body); err != nil {
			return nil, err
		}
		try(search, bytes)
	}
	if chosen != wayLiterals {
		table = nil
	}
	k.judged(kind, chosen, table)
	return out, nil
}

// smaller puts a frame made by a search for matches in the place of the one at out[start:] where it is smaller. It
// returns its bytes, too.
func (w *workspace) smaller(by way, level int, out []byte, start int, body []byte) ([]byte, int, error) {
	if by == wayFast {
		level = zstdLevelFast
	}
	frame, err := w.appendZstd(level, w.trial[:0], body)
	if err != nil {
		return nil, 0, err
	}
	w.trial = frame
	if len(frame) < len(out)-start {
		out = append(out[:start], frame...)
	}
	return out, len(frame), nil
}
