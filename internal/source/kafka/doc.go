// Package kafka reads the partitions of Kafka topics in blocks, at the offsets it is told, and says where their logs
// begin and end.
//
// Partitions are read by direct assignment: the table's floor decides where, never a consumer group. The group's
// offsets are only moved, as a gauge for lag monitors.
package kafka
