// Package job is the job file: its settings, their defaults, the strict decoding that finds every fault at once, and
// the template parameters that make the same settings.
package job
