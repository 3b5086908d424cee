// Package wire turns a job into a running pipeline. It is the only place that names concrete sources and sinks.
package wire
