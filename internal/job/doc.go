// Package job is the job file: its settings, their defaults, a strict decoder, the parameters of known templates, and
// a check that reports every fault at once with the line it is on.
package job
