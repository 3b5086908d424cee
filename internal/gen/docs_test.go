package gen

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docsExample is a row of the table of functions: call, result, example, what it makes.
var docsExample = regexp.MustCompile("^(\\| `.* \\| .* \\| )`([^`]*\\{\\{.*)` \\|(.*)\\|$")

// Every example of the documentation makes what the documentation says, and every function is there.
func TestDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "generator.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		for _, name := range regexp.MustCompile("[`{(,]([a-zA-Z0-9]+)[`(]").FindAllStringSubmatch(line, -1) {
			documented[name[1]] = true
		}
		row := docsExample.FindStringSubmatch(line)
		if row == nil {
			if strings.HasPrefix(line, "| `") && strings.Contains(line, "{{") {
				t.Errorf("line %d is no row of four columns: %s", i+1, line)
			}
			continue
		}
		want := " `" + messages(t, row[2], 1)[0] + "` "
		if *update {
			lines[i] = row[1] + "`" + row[2] + "` |" + want + "|"
		} else if row[3] != want {
			t.Errorf("line %d says that %s makes%s, it makes%s", i+1, row[2], row[3], want)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range newCompiler(&Template{}, false).names {
		if !documented[name] {
			t.Errorf("function %s is not documented", name)
		}
	}
}

// The blocks of the documentation are templates that make JSON.
func TestDocsBlocks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "generator.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```")
	if len(blocks) < 5 {
		t.Fatal("the documentation has fewer than two blocks")
	}
	for i := 1; i < len(blocks); i += 2 {
		if err := compile(t, strings.TrimSpace(blocks[i])).CheckJSON(); err != nil {
			t.Errorf("%s: %v", blocks[i], err)
		}
	}
}
