// Package advise says how a table should be partitioned and committed to, from what is written to it and how it is
// read: a model of the cost of a day, and the search for the cheapest choice.
package advise
