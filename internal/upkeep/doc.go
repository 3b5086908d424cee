// Package upkeep keeps a table that is written every second in good files: it joins its small data files into large
// ones.
package upkeep
