// Package pipeline is the walk of the records: read, decode, write, commit, acknowledge. It owns the workers, the
// limits and the shutdown, and the interfaces that sources and sinks fulfil.
package pipeline
