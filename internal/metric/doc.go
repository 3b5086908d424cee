// Package metric counts what one job does: records, rows, commits, freshness, lag, and what the process uses.
//
// It knows nothing of sources or tables: callers say what happened in plain numbers, once a block or once a commit,
// never once a record. Summary gives the figures as JSON, Collector gives them to Prometheus, Healthy judges them.
package metric
