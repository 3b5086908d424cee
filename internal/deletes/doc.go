// Package deletes finds the rows of data files that delete files take away: position deletes, equality deletes and
// deletion vectors (Iceberg specification, "Delete Formats" and "Scan Planning").
package deletes
