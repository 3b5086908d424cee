package gen

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a fault of a template: where it stands, what is wrong and what to do about it.
type Error struct {
	Line, Column int // of the template text, from 1; columns are characters
	What         string
	Do           string
}

func (e *Error) Error() string {
	return fmt.Sprintf("template line %d, column %d: %s; %s", e.Line, e.Column, e.What, e.Do)
}

// problem is a fault whose place is not known yet: the functions that read an argument return it.
type problem struct{ what, do string }

func (p *problem) Error() string { return p.what + "; " + p.do }

func problemf(do, format string, args ...any) error {
	return &problem{what: fmt.Sprintf(format, args...), do: do}
}

// locate gives a problem its place, the byte offset at of the text.
func locate(text string, at int, err error) *Error {
	before := text[:min(at, len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	e := &Error{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[start:]),
		What:   err.Error(), Do: "correct the template",
	}
	if p := (*problem)(nil); errors.As(err, &p) {
		e.What, e.Do = p.what, p.do
	}
	return e
}

// suggest is "did you mean x?" for the candidate that is nearest to the word, or the list of all when none is near.
func suggest(word string, candidates []string) string {
	best, distance := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "the choice is: " + strings.Join(candidates, ", ")
}

// editDistance counts the insertions, deletions and changes of a byte that turn a into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// shorten keeps a quoted piece of input short in a message.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= 40 {
		return text
	}
	return string([]rune(text)[:40]) + "..."
}
