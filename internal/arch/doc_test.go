// Package arch holds the sources to the rules of their shape: the directions of imports, the sizes of files and
// functions, what may be named in them. It has tests only.
package arch
