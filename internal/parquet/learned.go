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

	encoding encodingChoice
}

// learnedPages is about the pages of one kind.
type learnedPages struct {
	way   way
	due   int64 // bytes until the way is judged again
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
	wayGeneral  way = iota // search for matches
	wayLiterals            // only code the bytes: three times as fast, where there are no matches
	wayStored              // as it is
)

const (
	// judgeBytes is how much of a column goes by between two judgements of its way: each costs a page twice.
	judgeBytes = 64 << 20
	// judgeBytesMin is the least page to judge by.
	judgeBytesMin = 4 << 10
	// Matches must save so much of a page to be worth the search, and coding so much to be worth it.
	matchesWorth = 0.01
	codingWorth  = 0.03
)

// appendPage appends a page's frame, made in the way that its column was found to need.
func (w *workspace) appendPage(k *learned, kind pageKind, level int, dst, body []byte) ([]byte, error) {
	k.mu.Lock()
	p := &k.kinds[kind]
	p.due -= int64(len(body))
	judge := p.due < 0 && len(body) >= judgeBytesMin
	if judge {
		p.due = judgeBytes
	}
	way, table := p.way, p.table
	k.mu.Unlock()
	if judge {
		return w.judge(k, kind, level, dst, body)
	}
	switch way {
	case wayLiterals:
		out, known := w.literals.AppendFrame(dst, body, table)
		k.learn(kind, wayLiterals, known)
		return out, nil
	case wayStored:
		return literal.AppendStored(dst, body), nil
	default:
		return w.appendZstd(level, dst, body)
	}
}

func (k *learned) learn(kind pageKind, way way, table *literal.Table) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kinds[kind].way, k.kinds[kind].table = way, table
}

// judge makes the frame in both ways, returns the smaller one and learns from it.
func (w *workspace) judge(k *learned, kind pageKind, level int, dst, body []byte) ([]byte, error) {
	start := len(dst)
	out, err := w.appendZstd(level, dst, body)
	if err != nil {
		return nil, err
	}
	general := len(out) - start
	coded, table := w.literals.AppendFrame(w.trial[:0], body, nil)
	w.trial = coded
	way, best := wayGeneral, general
	if worth := int(matchesWorth * float64(len(body))); len(coded) <= general+worth {
		way, best = wayLiterals, len(coded)
	}
	if worth := int(codingWorth * float64(len(body))); best >= len(body)-worth {
		way = wayStored
	}
	if way != wayLiterals {
		table = nil
	}
	k.learn(kind, way, table)
	if len(coded) < general {
		return append(out[:start], coded...), nil
	}
	return out, nil
}
