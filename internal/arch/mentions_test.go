package arch

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sourceMention is `path/file.go` or `path/file.go:function` in a text; the path may leave out internal/.
var sourceMention = regexp.MustCompile("`([a-z]\\w*(?:/\\w+)*\\.go)(?::(\\w+))?`")

// memberMention is `name.member` in the tables of goroutines and locks: a method or field of a type, or a function of
// a package.
var memberMention = regexp.MustCompile("`([A-Za-z]\\w*)\\.([A-Za-z]\\w*)`")

// membersFrom is the heading of the section in which name.member means code.
const membersFrom = "## 5 Goroutines and locks"

// mentions says which of the files, functions and members that a text mentions are not there.
func mentions(text string, files []source) []string {
	functions, members := declared(files)
	var faults []string
	for _, m := range sourceMention.FindAllStringSubmatch(text, -1) {
		names, ok := functions[m[1]]
		if !ok {
			names, ok = functions["internal/"+m[1]]
		}
		switch {
		case !ok:
			faults = append(faults, "no file "+m[1])
		case m[2] != "" && !names[m[2]]:
			faults = append(faults, fmt.Sprintf("no function %s in %s", m[2], m[1]))
		}
	}
	_, tables, _ := strings.Cut(text, membersFrom)
	tables, _, _ = strings.Cut(tables, "\n## ")
	for _, m := range memberMention.FindAllStringSubmatch(tables, -1) {
		if m[2] != "go" && !members[m[1]+"."+m[2]] {
			faults = append(faults, fmt.Sprintf("no %s.%s", m[1], m[2]))
		}
	}
	return faults
}

// declared gives the functions of each file, and all members: functions by package, methods and fields by type.
func declared(files []source) (functions map[string]map[string]bool, members map[string]bool) {
	functions, members = map[string]map[string]bool{}, map[string]bool{}
	for _, f := range files {
		names := map[string]bool{}
		functions[f.path] = names
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
				members[receiver(d, f.ast.Name.Name)+"."+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					addFields(members, s)
				}
			}
		}
	}
	return functions, members
}

// receiver is the type of a method, or the package of a function.
func receiver(d *ast.FuncDecl, pkg string) string {
	if d.Recv == nil {
		return pkg
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func addFields(members map[string]bool, s ast.Spec) {
	t, ok := s.(*ast.TypeSpec)
	if !ok {
		return
	}
	if structure, ok := t.Type.(*ast.StructType); ok {
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				members[t.Name.Name+"."+name.Name] = true
			}
		}
	}
}

func TestDocumentsMentionWhatIsThere(t *testing.T) {
	files, mentioned := goFiles(t), 0
	walk(t, true, func(path string, text []byte) {
		if !strings.HasPrefix(path, "docs/") || !strings.HasSuffix(path, ".md") {
			return
		}
		mentioned += len(sourceMention.FindAllString(string(text), -1))
		for _, fault := range mentions(string(text), files) {
			t.Errorf("%s: %s", path, fault)
		}
	})
	if mentioned == 0 {
		t.Error("nothing was mentioned")
	}
}

func TestMentionsFindsFaults(t *testing.T) {
	code := "package a\ntype T struct{ mu, x int }\nfunc (t *T) Do() {}\nfunc F() {}"
	files := []source{parse(t, "internal/a/b.go", code)}
	text := "`a/b.go`, `a/b.go:F`, `a/b.go:Do`, `internal/a/b.go`, `a/c.go`, `a/b.go:G`, `T.none`\n" + membersFrom +
		"\n`T.mu`, `T.Do`, `a.F`, `T.y`, `b.F`, `a/b.go`, `a.G`\n## 6 Other\n`limits.memory`"
	want := []string{"no file a/c.go", "no function G in a/b.go", "no T.y", "no b.F", "no a.G"}
	if diff := cmp.Diff(want, mentions(text, files)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
