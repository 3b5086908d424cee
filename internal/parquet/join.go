package parquet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"firn/internal/record"
)

// Part is a finished Parquet file that is to be joined with others.
type Part struct {
	// Bytes are the file's. They are read in long runs, a column at a time, by one goroutine.
	Bytes     io.ReaderAt
	SizeBytes int64
	// File describes the part as Iceberg does; its bounds and NaN counts become the joined file's. What it does not
	// know of a column, the joined file does not know either, counts apart.
	File record.DataFile
	// FirstRowID and SequenceNumber are the part's in the table, when JoinOptions asks for row lineage.
	FirstRowID, SequenceNumber int64
}

// JoinOptions says how parts are joined.
type JoinOptions struct {
	// Schema is that of the joined file and of all parts. Names may differ, since fields are known by their ids.
	Schema *record.Schema
	// Options is for what has to be encoded anew, and for the footer. RowGroupBytesMax bounds the row groups that are
	// put together; a larger one stays as it is. Codec is not asked: pages keep theirs.
	Options Options
	// RowLineage adds the columns _row_id and _last_updated_sequence_number (Iceberg format version 3), made of the
	// parts' FirstRowID and SequenceNumber, or copied from the parts that have them.
	RowLineage bool
}

// Joined is what became of the parts.
type Joined struct {
	// File describes the joined file: all but path, partition and sort order.
	File record.DataFile
	// PagesCopied and BytesCopied count data and dictionary pages that are in the file as they were in their part, and
	// their bytes there, headers included.
	PagesCopied, BytesCopied int64
	// PagesReencoded and BytesReencoded count those that had to be encoded anew, and their uncompressed bytes as read.
	PagesReencoded, BytesReencoded int64
}

// Errors for which the rows of the parts can be read and written instead.
var (
	// ErrSchemaDiffers means that the pages of a part do not fit the schema.
	ErrSchemaDiffers = errors.New("the schemas differ")
	// ErrRowGroups means that the parts have more row groups than a file may have, and that they are too large to be one.
	ErrRowGroups = errors.New("there are too many row groups")
)

// Join writes the rows of the parts, in their order, as one file to w. Pages are copied byte for byte, and row groups
// of consecutive parts become one, up to RowGroupBytesMax: a column's chunk is the data pages of theirs, one after the
// other. Only where dictionaries differ is a column's page of indices encoded anew (or as PLAIN, where the dictionary
// would grow beyond DictionaryBytesMax), and where codecs differ, a page is compressed anew by the codec of most.
//
// Memory is a few MB, and what the footers, page indexes and the dictionaries of one column in one row group take. A
// failed w leaves nothing to go on with. Parts may be anything: what is no sound Parquet file makes an error.
func Join(ctx context.Context, w io.Writer, parts []Part, o JoinOptions) (Joined, error) {
	j, err := newJoiner(parts, o)
	if err != nil {
		return Joined{}, fmt.Errorf("joining parquet files: %w", err)
	}
	defer j.close()
	buffered := bufio.NewWriterSize(w, joinBufferBytes)
	j.out = &countingWriter{w: buffered}
	if err := j.join(ctx); err != nil {
		return Joined{}, fmt.Errorf("joining parquet files: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return Joined{}, fmt.Errorf("joining parquet files: %w", err)
	}
	return j.result, nil
}

// joinBufferBytes is written at once when pages are small. Longer runs of bytes pass it by.
const joinBufferBytes = 256 << 10

// joiner writes one joined file.
type joiner struct {
	options Options
	layout  *layout
	parts   []joinPart
	out     *countingWriter
	ws      *workspace
	meta    joinedMeta
	chunks  [][]joinedChunk // by row group and leaf
	rows    int64
	result  Joined
	scratch joinScratch
}

// joinPart is a part with its footer.
type joinPart struct {
	Part
	footer *Footer
	leaves []int                   // of the part, by leaf of the layout; -1 for a column that is made
	codec  format.CompressionCodec // of made columns
}

func newJoiner(parts []Part, o JoinOptions) (*joiner, error) {
	options, err := o.Options.normalize()
	if err != nil {
		return nil, err
	}
	schema := o.Schema
	if o.RowLineage {
		schema = withLineage(schema)
	}
	l, err := newLayout(schema)
	if err != nil {
		return nil, err
	}
	if err := l.checkBlooms(options.Blooms); err != nil {
		return nil, err
	}
	j := &joiner{options: options, layout: l, ws: options.Pool.borrow()}
	want, err := j.shapes()
	if err != nil {
		j.close()
		return nil, err
	}
	for i := range parts {
		p, err := openPart(&parts[i], want)
		if err == nil {
			err = p.checkLineage(l.leaves)
		}
		if err != nil {
			j.close()
			return nil, fmt.Errorf("part %d of %d, %s: %w", i+1, len(parts), parts[i].File.Path, err)
		}
		p.codec = options.Codec.made()
		j.parts = append(j.parts, p)
	}
	return j, nil
}

func (j *joiner) close() {
	for _, chunks := range j.chunks {
		for i := range chunks {
			j.options.Pool.put(chunks[i].bloom)
		}
	}
	j.options.Pool.giveBack(j.ws)
}

// shapes are those that the leaves of the schema have in a file of this package.
func (j *joiner) shapes() ([]fileLeaf, error) {
	b, err := j.ws.encode(&joinedMeta{Schema: j.layout.elements})
	if err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	f, err := parseFooter(b)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	return f.leaves, nil
}

// openPart reads the part's footer, and finds the leaves in it.
func openPart(p *Part, want []fileLeaf) (joinPart, error) {
	f, err := ReadFooter(p.Bytes, p.SizeBytes)
	if err != nil {
		return joinPart{}, err
	}
	if f.Rows != p.File.Rows {
		return joinPart{}, fmt.Errorf("it has %d rows and is described to have %d: the description is another file's",
			f.Rows, p.File.Rows)
	}
	out := joinPart{Part: *p, footer: f, leaves: make([]int, len(want))}
	byID := make(map[int]int, len(f.leaves))
	for i, l := range f.leaves {
		if l.id == 0 {
			return joinPart{}, fmt.Errorf("column %s has no field id: %w", l.name, ErrSchemaDiffers)
		}
		byID[l.id] = i
	}
	made := 0
	for i, l := range want {
		at, ok := byID[l.id]
		switch {
		case !ok && isLineage(l.id):
			at = -1
			made++
		case !ok:
			return joinPart{}, fmt.Errorf("it has no column %s of field id %d: %w", l.name, l.id, ErrSchemaDiffers)
		case f.leaves[at].shape != l.shape:
			return joinPart{}, fmt.Errorf("column %s is %s there and %s in the table: %w", l.name, f.leaves[at].shape,
				l.shape, ErrSchemaDiffers)
		}
		out.leaves[i] = at
	}
	if have := len(want) - made; len(f.leaves) != have {
		return joinPart{}, fmt.Errorf("it has %d columns of values, the table has %d: %w", len(f.leaves), have,
			ErrSchemaDiffers)
	}
	return out, nil
}

func (j *joiner) join(ctx context.Context) error {
	groups := j.plan()
	if len(groups) > rowGroupsMax {
		return fmt.Errorf("%w: %d, where a file has %d at most; allow larger ones or join fewer parts", ErrRowGroups,
			len(groups), rowGroupsMax)
	}
	if _, err := io.WriteString(j.out, magic); err != nil {
		return err
	}
	for i := range groups {
		if err := j.writeGroup(ctx, &groups[i]); err != nil {
			return err
		}
	}
	if err := j.writePageIndex(); err != nil {
		return err
	}
	if err := j.writeBlooms(); err != nil {
		return err
	}
	if err := j.writeFooter(); err != nil {
		return err
	}
	j.describe()
	return nil
}

// writeGroup writes the chunks of a row group, and notes where they are.
func (j *joiner) writeGroup(ctx context.Context, g *joinedGroup) error {
	meta := joinedRowGroup{NumRows: g.rows, FileOffset: j.out.bytes, Ordinal: int16(len(j.chunks))}
	j.result.File.SplitOffsets = append(j.result.File.SplitOffsets, j.out.bytes)
	chunks := make([]joinedChunk, len(j.layout.leaves))
	meta.Columns = make(thrift.Slice[joinedColumn], len(chunks))
	for i := range chunks {
		c, err := j.writeChunk(ctx, g, i)
		if err != nil {
			return fmt.Errorf("column %s: %w", j.layout.leaves[i].dotted, err)
		}
		chunks[i] = c
		meta.Columns[i].MetaData = c.metaData(&j.layout.leaves[i])
		meta.TotalByteSize += c.uncompressed
		meta.TotalCompressedSize += c.size
	}
	j.chunks = append(j.chunks, chunks)
	j.meta.RowGroups = append(j.meta.RowGroups, meta)
	j.rows += g.rows
	return nil
}
