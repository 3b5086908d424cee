// Package matrix has files of every type and nesting, written with every combination of options, read by every reader
// that is not firn: arrow-go, parquet-go, PyArrow, DuckDB, parquet-java and Spark. It has tests only.
//
// All readers print the rows in one form (text_test.go), a line a row, and so does the test from the columns that it
// wrote: equal values are equal text, and a difference has a row and a column.
package matrix
