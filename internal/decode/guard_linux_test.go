package decode

import (
	"syscall"
	"testing"

	"firn/internal/record"
)

// guarded copies texts to the end of a page that is followed by one that must not be touched.
type guarded struct{ page []byte }

func newGuarded(t *testing.T, size int) guarded {
	t.Helper()
	unit := syscall.Getpagesize()
	size = (size + unit - 1) / unit * unit
	all, err := syscall.Mmap(-1, 0, size+unit, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip("no guard page:", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	if err := syscall.Mprotect(all[size:], syscall.PROT_NONE); err != nil {
		t.Skip("no guard page:", err)
	}
	return guarded{all[:size:size]}
}

func (g guarded) put(text string) []byte {
	at := len(g.page) - len(text)
	copy(g.page[at:], text)
	return g.page[at:]
}

// Words are read without bounds checks: no record may be read beyond its end, whole or cut anywhere.
func TestJSONReadsNothingBeyondTheRecord(t *testing.T) {
	s := everyKind()
	g := newGuarded(t, 64<<10)
	forEachWayToScan(t, func(t *testing.T) {
		d, batch := newJSON(t, s, nil), record.NewBatch(s)
		read := func(text string) {
			batch.Reset()
			d.Decode(&record.Block{Records: []record.Record{{Value: g.put(text)}}}, batch)
		}
		var texts []string
		for _, c := range valueCases {
			texts = append(texts, c.in)
		}
		for _, f := range s.Fields {
			for _, text := range scalarTexts() {
				texts = append(texts, matrixMessage(f.Name, text))
			}
		}
		for _, text := range append(texts, wideMessages(3, true)...) {
			for n := range min(len(text), 1000) + 1 {
				read(text[:n])
			}
		}
	})
}
