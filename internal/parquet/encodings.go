package parquet

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go/format"
)

// Encodings is which encodings data pages may have.
type Encodings uint8

const (
	// EncodingsCompatible is PLAIN and dictionaries, which every reader knows. Iceberg's vectorized reader for Spark
	// refuses byte stream split and delta byte arrays up to its version 1.10, and DELTA_BINARY_PACKED before 1.10.
	EncodingsCompatible Encodings = iota
	// EncodingsAuto tries the others on a page of each column for which a dictionary does not pay, and keeps the one
	// that makes it smallest.
	EncodingsAuto
)

var encodingsNames = [...]string{"compatible", "auto"}

// String is the name that ParseEncodings reads.
func (e Encodings) String() string {
	if int(e) >= len(encodingsNames) {
		return fmt.Sprintf("encodings(%d)", uint8(e))
	}
	return encodingsNames[e]
}

// ParseEncodings reads "compatible" or "auto", in any case.
func ParseEncodings(s string) (Encodings, error) {
	for i, name := range encodingsNames {
		if strings.EqualFold(s, name) {
			return Encodings(i), nil
		}
	}
	return 0, fmt.Errorf("parquet encodings %q are not one of %s", s, strings.Join(encodingsNames[:], ", "))
}

// encodingChoice is what a column's pages without a dictionary are encoded as. It is safe for concurrent use.
type encodingChoice struct {
	mu       sync.Mutex
	encoding format.Encoding // guarded by mu
	due      int64           // guarded by mu: bytes of PLAIN until it is judged again
}

// encodingJudgeEvery is how many times the size of the judged page goes by until the next is judged, of at most
// judgeBytes: to judge costs a page two or three times, and a page of a few rows should not decide for long.
const encodingJudgeEvery = 64

// next is the encoding of a page of so many bytes, and whether to judge by that page.
func (c *encodingChoice) next(bytes int) (format.Encoding, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due -= int64(bytes)
	if c.due >= 0 {
		return c.encoding, false
	}
	c.due = min(int64(bytes)*encodingJudgeEvery, judgeBytes)
	return c.encoding, true
}

func (c *encodingChoice) learn(e format.Encoding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.encoding = e
}

// otherEncodings are those beside PLAIN that may make a column smaller.
func (l *leafType) otherEncodings() []format.Encoding {
	switch l.physical {
	case format.Int32, format.Int64:
		return encodingsOfInts
	case format.Float, format.Double:
		return encodingsOfFloats
	case format.ByteArray:
		return encodingsOfBytes
	default:
		return nil
	}
}

// Byte stream split is for whole numbers and values of a fixed length too, and DuckDB 1.5 refuses to read it there.
var (
	encodingsOfInts   = []format.Encoding{format.DeltaBinaryPacked}
	encodingsOfFloats = []format.Encoding{format.ByteStreamSplit}
	encodingsOfBytes  = []format.Encoding{format.DeltaLengthByteArray, format.DeltaByteArray}
)

// encodePage turns the PLAIN values of the open page into what suits them, and says what that is.
func (l *leaf) encodePage(f *File, w *workspace) (format.Encoding, error) {
	others := l.otherEncodings()
	if f.options.Encodings != EncodingsAuto || l.page.count == 0 || len(others) == 0 {
		return format.Plain, nil
	}
	e, judge := l.learned.encoding.next(l.page.bytes)
	if judge {
		return l.judgeEncodings(f, w, others)
	}
	if !slices.Contains(others, e) { // PLAIN, or what a column of another type learned under the same name
		return format.Plain, nil
	}
	l.replacePlain(f.options.Pool, l.encodeAs(f.options.Pool, e))
	return e, nil
}

// encodingWorth is the share of a page that another encoding than PLAIN has to save: PLAIN is the fastest to read and
// to write, and every reader knows it.
const encodingWorth = 1.0 / 32

// judgeEncodings encodes and compresses the open page in every way, and keeps and learns the smallest.
func (l *leaf) judgeEncodings(f *File, w *workspace, others []format.Encoding) (format.Encoding, error) {
	pool := f.options.Pool
	size, err := l.compressedSize(f, w, format.Plain, l.page.plain[frontBytes:])
	if err != nil {
		return format.Plain, err
	}
	best, encoding, encoded := size-int(encodingWorth*float64(size)), format.Plain, []byte(nil)
	for _, e := range others {
		out := l.encodeAs(pool, e)
		size, err := l.compressedSize(f, w, e, out[frontBytes:])
		if err != nil {
			return format.Plain, err
		}
		if size < best {
			best, encoding, encoded, out = size, e, out, encoded
		}
		pool.put(out)
	}
	l.learned.encoding.learn(encoding)
	if encoded != nil {
		l.replacePlain(pool, encoded)
	}
	return encoding, nil
}

// compressedSize is the size that values would have in the file.
func (l *leaf) compressedSize(f *File, w *workspace, e format.Encoding, values []byte) (int, error) {
	compressed, err := l.compressPage(f, w, kindOf(e), values, 0)
	if compressed == nil || err != nil {
		return len(values), err
	}
	f.options.Pool.put(compressed)
	return len(compressed), nil
}

// replacePlain makes encoded, which has the front, the bytes of the open page.
func (l *leaf) replacePlain(p *Pool, encoded []byte) {
	p.put(l.page.plain)
	l.page.plain = encoded
}

// encodeAs returns the values of the open page in another encoding than PLAIN, after a front, in a buffer of the pool.
func (l *leaf) encodeAs(p *Pool, e format.Encoding) []byte {
	plain, n := l.page.plain[frontBytes:], l.page.count
	switch e {
	case format.DeltaBinaryPacked:
		out := p.get(frontBytes + deltaBytesMax(n, l.width))[:frontBytes]
		return appendDeltas(out, plain, l.width)
	case format.ByteStreamSplit:
		return appendStreams(p.get(frontBytes + len(plain))[:frontBytes], plain, l.width)
	default:
		out := p.get(frontBytes + len(plain) + 2*deltaBytesMax(n, 4))[:frontBytes]
		lengths := p.get(8 * n)
		if e == format.DeltaLengthByteArray {
			out = appendDeltaLengths(out, plain, lengths)
		} else {
			out = appendDeltaByteArrays(out, plain, lengths)
		}
		p.put(lengths)
		return out
	}
}
