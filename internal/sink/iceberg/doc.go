// Package iceberg writes batches to the data files of one Iceberg table: rows are split by partition value, each
// partition value has one open file, and a flush seals them all.
package iceberg
