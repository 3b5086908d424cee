// Package parquet turns columns of records into the bytes of Parquet data files as Iceberg wants them.
//
// It owns the page writer. A page is encoded and compressed as soon as it is full, so that an open file costs little
// more than its compressed size, and values are copied once on their way from a record.Column to the file. The
// layout follows the Parquet format 2.x and the type mapping of the Iceberg specification (appendix A, Parquet). What
// every reader knows is the default: data pages v1, PLAIN and dictionaries. Options asks for pages v2, for other
// encodings where they pay, and for bloom filters.
//
// Values are collected in PLAIN. A full page is turned into its encoding as a whole and by itself, so that pages can be
// put together anew without decoding them, dictionaries apart: Join makes one large file of small ones so.
package parquet
