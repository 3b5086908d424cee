// Package table is an Iceberg table as firn needs it: opened or made through a catalog, its schema and partitioning in
// firn's own terms, a place to put data files, the floor of a job, and the commit that moves files and floor together.
//
// It hides the Iceberg library: no other package names its types.
package table
