package record

import "strconv"

// DeleteContent is what a delete file says which rows are deleted (Iceberg specification, "Delete Formats").
type DeleteContent uint8

// The contents.
const (
	DeletePositions DeleteContent = iota // rows of data files by path and position
	DeleteEquality                       // rows by values of columns
	DeleteVector                         // a bitmap of the rows of one data file
)

// DeleteFile describes a delete file of an Iceberg table, as a reader of it needs it.
type DeleteFile struct {
	Path      string
	Content   DeleteContent
	SizeBytes int64
	Rows      int64 // that it lists
	// Sequence is the data sequence number: an equality delete applies to data of lower ones, the others to data of the
	// same one too.
	Sequence    int64
	EqualityIDs []int // field ids of the columns
	// Offset and Length are where in the file a vector is.
	Offset, Length int64
}

// Key tells the delete file from others of the table: one file may hold many vectors.
func (f *DeleteFile) Key() string {
	if f.Content != DeleteVector {
		return f.Path
	}
	return f.Path + "#" + strconv.FormatInt(f.Offset, 10)
}

// DeletableFile is a live data file with the delete files that may apply to it.
type DeletableFile struct {
	DataFile
	Sequence int64 // of its data
	Deletes  []DeleteFile
}
