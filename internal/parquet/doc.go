// Package parquet turns columns of records into the bytes of Parquet data files as Iceberg wants them.
//
// It owns the page writer. A page is encoded and compressed as soon as it is full, so that an open file costs little
// more than its compressed size, and values are copied once on their way from a record.Column to the file. The
// layout follows the Parquet format 2.x with data pages v1, which every reader knows, and the type mapping of the
// Iceberg specification (appendix A, Parquet).
package parquet
