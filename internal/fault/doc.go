// Package fault is test doubles that fail on purpose: a source, a sink, a store and a catalog whose n-th operation
// goes wrong, before or after it took effect.
package fault
