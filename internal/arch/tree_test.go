package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the folder of the module, seen from this package.
const root = "../.."

// source is one Go file. The files are parsed here, not asked for with go list: a test whose result is cached runs
// again only for files that it opened itself.
type source struct {
	path string // from the root, with slashes
	text string
	ast  *ast.File
	set  *token.FileSet
}

func (f source) test() bool             { return strings.HasSuffix(f.path, "_test.go") }
func (f source) line(pos token.Pos) int { return f.set.Position(pos).Line }

func parse(t *testing.T, path, text string) source {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("parsing %s: %v", path, err)
	}
	return source{path: path, text: text, ast: tree, set: set}
}

// goFiles parses every Go file of the module: those of modules within it are theirs.
func goFiles(t *testing.T) []source {
	t.Helper()
	var files []source
	walk(t, true, func(path string, text []byte) {
		if strings.HasSuffix(path, ".go") && !strings.Contains(path, "testdata/") {
			files = append(files, parse(t, path, string(text)))
		}
	})
	return files
}

// walk visits every text file below the root, except in folders that are hidden.
func walk(t *testing.T, ownModule bool, visit func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if entry.IsDir() {
			if path != "." && skipped(name, entry.Name(), ownModule) {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		return visitFile(name, path, visit)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skipped(name, base string, ownModule bool) bool {
	if base == ".git" || base == ".cache" || base == "node_modules" {
		return true
	}
	if !ownModule {
		return false
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	return err == nil
}

// visitFile leaves out what is no text: a program that was built, say.
func visitFile(name, path string, visit func(string, []byte)) error {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil // a file of another test that is gone by now
	}
	if err != nil {
		return err
	}
	if !bytes.Contains(text[:min(len(text), 8192)], []byte{0}) {
		visit(path, text)
	}
	return nil
}
