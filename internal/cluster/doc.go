// Package cluster is what makes several replicas of a job one: the fold that all of them compute alike from the
// table's floor and the sealed files, so that one process is only the case N = 1.
package cluster
