// Package prefetch asks for memory before it is needed. A value, or a page that was filled little by little, is not in
// the cache when it is read, and then each 4 KiB begins with a wait for the memory, which the processor foresees only
// within them.
package prefetch
