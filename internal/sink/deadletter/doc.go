// Package deadletter keeps the records that could not become rows: in a Kafka topic or in a file of JSON Lines.
//
// The pipeline writes and flushes every rejected record before it commits the position behind it, so that no record
// is lost between the two (invariant 4). After a crash in between, the records are rejected and written again, so that
// a dead letter may be there twice: readers tell doubles by job, topic, partition and offset, which are the same.
package deadletter
