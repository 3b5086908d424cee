// Package record is what walks through firn: typed columns of records on the way in, sealed data files on the way
// out, and the source positions that tie the two together.
//
// It imports nothing of firn, so that every other package can speak in its terms.
package record
