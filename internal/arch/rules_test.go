package arch

import (
	"fmt"
	"go/ast"
	"path"
	"strconv"
	"strings"
)

// A rule gives one line for each place where the sources break it.
type rule func(files []source) []string

// directions: imports go downward.
func directions(files []source) []string {
	var faults []string
	for _, f := range files {
		from, ok := unitOf(path.Dir(f.path))
		if !ok {
			faults = append(faults, fmt.Sprintf("%s: %s is not in the table of levels", f.path, path.Dir(f.path)))
			continue
		}
		for _, imported := range f.imports() {
			folder, own := strings.CutPrefix(imported, module+"/")
			if !own {
				continue
			}
			to, ok := unitOf(folder)
			if !ok || to == from || levels[to] < levels[from] || f.test() && forTests[to] {
				continue // an unknown one is told of at its own files
			}
			faults = append(faults, fmt.Sprintf("%s: %s (level %d) imports %s (level %d)",
				f.path, from, levels[from], to, levels[to]))
		}
	}
	return faults
}

// unitOf gives the unit that a folder belongs to: the longest entry of levels that is the folder or lies above it.
func unitOf(folder string) (string, bool) {
	for ; folder != "." && folder != "/"; folder = path.Dir(folder) {
		if _, ok := levels[folder]; ok {
			return folder, true
		}
	}
	return "", false
}

// confinement: some libraries are imported by one unit only. Tests may hold their own code against the library.
func confinement(files []source) []string {
	var faults []string
	for _, f := range files {
		if f.test() {
			continue
		}
		unit, _ := unitOf(path.Dir(f.path))
		for _, imported := range f.imports() {
			for library, home := range confined {
				if unit != home && (imported == library || strings.HasPrefix(imported, library+"/")) {
					faults = append(faults, fmt.Sprintf("%s: imports %s, which is for %s alone", f.path, imported, home))
				}
			}
		}
	}
	return faults
}

// mains: there is one program.
func mains(files []source) []string {
	var faults []string
	for _, f := range files {
		if f.ast.Name.Name == "main" && path.Dir(f.path) != mainPackage {
			faults = append(faults, fmt.Sprintf("%s: package main outside %s", f.path, mainPackage))
		}
	}
	return faults
}

// sizes: files and functions stay small enough to be read in one go. Tests may be longer.
func sizes(files []source) []string {
	var faults []string
	for _, f := range files {
		if f.test() || strings.HasPrefix(f.text, generatedMark) {
			continue
		}
		if n := strings.Count(f.text, "\n"); n > fileLinesMax {
			faults = append(faults, fmt.Sprintf("%s: %d lines, at most %d", f.path, n, fileLinesMax))
		}
		for _, declared := range f.ast.Decls {
			fn, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := f.line(fn.Pos()), f.line(fn.End())
			if n := last - first + 1; n > funcLinesMax {
				faults = append(faults, fmt.Sprintf("%s:%d: %s has %d lines, at most %d",
					f.path, first, fn.Name.Name, n, funcLinesMax))
			}
		}
	}
	return faults
}

// comments: ASCII, so that every editor, terminal and font shows the same.
func comments(files []source) []string {
	var faults []string
	for _, f := range files {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if i := strings.IndexFunc(c.Text, func(r rune) bool { return r > 126 }); i >= 0 {
					faults = append(faults, fmt.Sprintf("%s:%d: a comment that is not ASCII", f.path, f.line(c.Pos())))
				}
			}
		}
	}
	return faults
}

// imports gives the import paths of a file.
func (f source) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}
