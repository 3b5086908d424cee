package parquet

import (
	"hash/crc32"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// encodeLevels fills w.levelBuf with the repetition and definition levels of the open page. In a page v1 each has its
// length before it; in a page v2 the header has their lengths.
func (l *leaf) encodeLevels(w *workspace, version int) {
	appendLevels := appendSizedLevels
	if version == 2 {
		appendLevels = appendBareLevels
	}
	w.levelBuf, l.page.repBytes = w.levelBuf[:0], 0
	if l.rep > 0 {
		w.levelBuf = appendLevels(w.levelBuf, l.rep, 0, l.page.reps)
		l.page.repBytes = len(w.levelBuf)
	}
	if l.def > 0 {
		w.levelBuf = appendLevels(w.levelBuf, l.def, l.page.lead, l.page.defs)
	}
}

// checksum is the CRC of a page, of what follows its header in the file: two parts (parquet.thrift, PageHeader).
func checksum(a, b []byte) int32 {
	return int32(crc32.Update(crc32.ChecksumIEEE(a), crc32.IEEETable, b))
}

// dataHeader describes the open page, but for its size.
func (l *leaf) dataHeader(version, levelBytes int, encoding format.Encoding, compressed bool) format.PageHeader {
	p := &l.page
	statistics := format.Statistics{NullCount: p.stats.nulls}
	if version == 2 {
		return format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(p.entries), NumNulls: int32(p.stats.nulls), NumRows: int32(p.rows), Encoding: encoding,
			DefinitionLevelsByteLength: int32(levelBytes - p.repBytes), RepetitionLevelsByteLength: int32(p.repBytes),
			IsCompressed: thrift.New(compressed), Statistics: statistics,
		})}
	}
	return format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(p.entries), Encoding: encoding,
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE, Statistics: statistics,
	})}
}
