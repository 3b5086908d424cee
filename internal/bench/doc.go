// Package bench measures firn: parts of it alone, and whole jobs in processes of their own. It writes figures with all
// that is needed to judge them and to measure them again.
package bench
