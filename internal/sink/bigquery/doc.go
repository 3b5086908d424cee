// Package bigquery moves rows into BigQuery through its Storage Write API: rows are encoded by hand as protocol buffers
// from decoded columns, and whole requests pass through gRPC unseen.
//
// The lower half is a client. A table schema becomes the schema that the decoder is compiled from (RecordSchema), and
// both together become an Encoder, which makes the rows of requests and the descriptor that the server reads them by.
// A Client makes, looks at and ends write streams, and opens Connections, on which requests are appended one behind the
// other, each answered by a Result.
//
// Sources: the messages and their comments in google.cloud.bigquery.storage.v1 (storage.proto, stream.proto,
// table.proto), and BigQuery's documents "Storage Write API" and "Supported protocol buffer and Arrow data types".
package bigquery
