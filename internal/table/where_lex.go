package table

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// WhereError is a fault in a condition, with the place where it was met.
type WhereError struct {
	Position int // character of the condition, counted from 1
	Text     string
}

func (e *WhereError) Error() string {
	return fmt.Sprintf("condition, character %d: %s", e.Position, e.Text)
}

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a keyword or a column
	tokenQuoted           // a column in "double quotes" or `backticks`: never a keyword
	tokenString           // 'text'
	tokenBytes            // X'hex'
	tokenNumber
	tokenSymbol // ( ) , . = != < <= > >=
)

// token is a piece of a condition. Text is without quotes, and with doubled quotes made one.
type token struct {
	kind tokenKind
	text string
	at   int // byte offset
}

func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return "'" + t.text + "'"
	case tokenBytes:
		return "X'" + t.text + "'"
	case tokenQuoted:
		return `"` + t.text + `"`
	default:
		return t.text
	}
}

// is says whether the token is the keyword, in any case.
func (t token) is(keyword string) bool {
	return t.kind == tokenWord && strings.EqualFold(t.text, keyword)
}

func (t token) symbol(s string) bool { return t.kind == tokenSymbol && t.text == s }

type whereLexer struct {
	text string
	next int // byte offset of what is not read yet
}

func (l *whereLexer) fail(at int, format string, args ...any) error {
	position := utf8.RuneCountInString(l.text[:at]) + 1
	return &WhereError{Position: position, Text: fmt.Sprintf(format, args...)}
}

// scan reads one token.
func (l *whereLexer) scan() (token, error) {
	l.next += len(l.text[l.next:]) - len(strings.TrimLeft(l.text[l.next:], " \t\r\n"))
	if l.next == len(l.text) {
		return token{kind: tokenEnd, at: l.next}, nil
	}
	at := l.next
	rest := l.text[at:]
	c := rest[0]
	switch {
	case c == '\'' || c == '"' || c == '`':
		return l.quoted(at, c)
	case (c == 'x' || c == 'X') && strings.HasPrefix(rest[1:], "'"):
		l.next++
		t, err := l.quoted(at, '\'')
		t.kind = tokenBytes
		return t, err
	case isWordStart(c):
		return l.take(tokenWord, wordLength(rest)), nil
	case isDigit(c) || (c == '-' || c == '+' || c == '.') && len(rest) > 1 && (isDigit(rest[1]) || rest[1] == '.'):
		return l.take(tokenNumber, numberLength(rest)), nil
	default:
		return l.symbol(at)
	}
}

func (l *whereLexer) take(kind tokenKind, n int) token {
	t := token{kind: kind, text: l.text[l.next : l.next+n], at: l.next}
	l.next += n
	return t
}

// quoted reads text up to the closing quote; a doubled quote stands for one.
func (l *whereLexer) quoted(at int, quote byte) (token, error) {
	var text strings.Builder
	for i := l.next + 1; i < len(l.text); i++ {
		if l.text[i] != quote {
			text.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == quote {
			text.WriteByte(quote)
			i++
			continue
		}
		l.next = i + 1
		kind := tokenQuoted
		if quote == '\'' {
			kind = tokenString
		}
		return token{kind: kind, text: text.String(), at: at}, nil
	}
	return token{}, l.fail(at, "the quote %c is not closed", quote)
}

func (l *whereLexer) symbol(at int) (token, error) {
	rest := l.text[at:]
	for _, s := range []string{"<>", "!=", "<=", ">=", "==", "=", "<", ">", "(", ")", ",", "."} {
		if strings.HasPrefix(rest, s) {
			l.next += len(s)
			switch s {
			case "<>":
				s = "!="
			case "==":
				s = "="
			}
			return token{kind: tokenSymbol, text: s, at: at}, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return token{}, l.fail(at, "unexpected %q", r)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordStart takes every byte of a non-ASCII character as a letter, so that columns in any script need no quotes.
func isWordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func wordLength(s string) int {
	n := 1
	for n < len(s) && (isWordStart(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

// numberLength takes all that may be part of a number; its form is checked when the column's type is known.
func numberLength(s string) int {
	n := 1
	for n < len(s) {
		c := s[n]
		sign := (c == '-' || c == '+') && (s[n-1] == 'e' || s[n-1] == 'E')
		if !isDigit(c) && c != '.' && c != '_' && !isWordStart(c) && !sign {
			break
		}
		n++
	}
	return n
}
