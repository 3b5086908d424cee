package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/iceberg-go"
)

const (
	// whereBytesMax and whereDepthMax bound what a condition may cost; both are far above what a person writes.
	whereBytesMax = 64 << 10
	whereDepthMax = 200
)

// parseWhere turns a condition on the columns of a schema into an Iceberg expression:
//
//	condition   NOT, AND, OR, parentheses
//	comparison  column = != <> < <= > >= literal
//	            column [NOT] IN (literal, ...)
//	            column [NOT] BETWEEN literal AND literal
//	            column [NOT] LIKE 'prefix%'
//	            column IS [NOT] NULL, column IS [NOT] NAN
//	column      name, "quoted name", struct.field; case counts
//	literal     12, -1.5e3, true, false, 'text' (a quote is doubled), X'00ff'; dates, times, timestamps and UUIDs are
//	            quoted text: '2026-01-31', '10:00:00.5', '2026-01-31T10:00:00', '2026-01-31T10:00:00Z'
//
// A literal must fit the column's type exactly. Nulls are as in SQL: a comparison with a null is neither true nor
// false, so NOT (a = 1) does not match a null a. An empty condition matches every row. Every fault is a *WhereError.
func parseWhere(text string, schema *iceberg.Schema) (where, error) {
	if strings.TrimSpace(text) == "" {
		return where{condition: iceberg.AlwaysTrue{}}, nil
	}
	if len(text) > whereBytesMax {
		return where{}, &WhereError{Position: 1, Text: fmt.Sprintf("longer than %d bytes", whereBytesMax)}
	}
	if !utf8.ValidString(text) {
		return where{}, &WhereError{Position: 1, Text: "not valid UTF-8"}
	}
	p := &whereParser{lexer: whereLexer{text: text}, schema: schema}
	if err := p.advance(); err != nil {
		return where{}, err
	}
	e, err := p.or(false)
	if err != nil {
		return where{}, err
	}
	if p.token.kind != tokenEnd {
		return where{}, p.unexpected("AND, OR or the end")
	}
	return where{e, p.columns}, nil
}

// where is a condition, and the top-level columns that it names.
type where struct {
	condition iceberg.BooleanExpression
	columns   []string
}

// whereParser is a recursive-descent parser. Each level takes whether its result is to be negated, and pushes that
// down to the comparisons: there the nulls and NaNs can be treated rightly, while a negation above them cannot.
type whereParser struct {
	lexer  whereLexer
	token  token // the one looked at
	schema *iceberg.Schema
	depth  int

	columns []string // top-level, that were named so far
}

func (p *whereParser) advance() error {
	t, err := p.lexer.scan()
	p.token = t
	return err
}

func (p *whereParser) fail(t token, format string, args ...any) error {
	return p.lexer.fail(t.at, format, args...)
}

func (p *whereParser) unexpected(want string) error {
	return p.fail(p.token, "want %s, got %s", want, p.token)
}

func (p *whereParser) expect(symbol string) error {
	if !p.token.symbol(symbol) {
		return p.unexpected(symbol)
	}
	return p.advance()
}

// accept steps over the keyword if it comes next.
func (p *whereParser) accept(keyword string) (bool, error) {
	if !p.token.is(keyword) {
		return false, nil
	}
	return true, p.advance()
}

func (p *whereParser) or(negate bool) (iceberg.BooleanExpression, error) {
	return p.chain("OR", negate, p.and)
}

func (p *whereParser) and(negate bool) (iceberg.BooleanExpression, error) {
	return p.chain("AND", !negate, func(bool) (iceberg.BooleanExpression, error) { return p.not(negate) })
}

// chain reads terms joined by the keyword. It joins them by Or, or by And when conjunctive: for OR that is when it is
// negated, for AND when it is not.
func (p *whereParser) chain(keyword string, conjunctive bool,
	term func(negate bool) (iceberg.BooleanExpression, error),
) (iceberg.BooleanExpression, error) {
	var terms []iceberg.BooleanExpression
	for {
		e, err := term(conjunctive)
		if err != nil {
			return nil, err
		}
		terms = append(terms, e)
		more, err := p.accept(keyword)
		if err != nil {
			return nil, err
		}
		if !more {
			return joinTerms(terms, conjunctive), nil
		}
	}
}

// joinTerms makes a balanced tree, so that a long chain does not become a deep one.
func joinTerms(terms []iceberg.BooleanExpression, conjunctive bool) iceberg.BooleanExpression {
	if len(terms) == 1 {
		return terms[0]
	}
	half := len(terms) / 2
	left, right := joinTerms(terms[:half], conjunctive), joinTerms(terms[half:], conjunctive)
	if conjunctive {
		return iceberg.NewAnd(left, right)
	}
	return iceberg.NewOr(left, right)
}

func (p *whereParser) not(negate bool) (iceberg.BooleanExpression, error) {
	for {
		more, err := p.accept("NOT")
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		negate = !negate
	}
	if !p.token.symbol("(") {
		return p.predicate(negate)
	}
	if p.depth++; p.depth > whereDepthMax {
		return nil, p.fail(p.token, "more than %d parentheses inside each other", whereDepthMax)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	e, err := p.or(negate)
	if err != nil {
		return nil, err
	}
	p.depth--
	return e, p.expect(")")
}

// whereColumn is a column that a condition names.
type whereColumn struct {
	name string
	typ  iceberg.Type
	at   token
}

func (c whereColumn) ref() iceberg.Reference { return iceberg.Reference(c.name) }

func (p *whereParser) predicate(negate bool) (iceberg.BooleanExpression, error) {
	c, err := p.column()
	if err != nil {
		return nil, err
	}
	if op, ok := comparisonOf(p.token); ok {
		return p.comparison(c, op, negate)
	}
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	rest := p.after(p.token, not)
	switch {
	case rest == nil && not:
		return nil, p.unexpected("IN, BETWEEN or LIKE")
	case rest == nil:
		return nil, p.unexpected("a comparison (=, !=, <, <=, >, >=, IN, BETWEEN, LIKE or IS)")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return rest(c, negate != not)
}

// after is what reads the rest of a comparison by keyword, or nil.
func (p *whereParser) after(t token, not bool) func(whereColumn, bool) (iceberg.BooleanExpression, error) {
	switch {
	case t.is("IS") && !not:
		return p.is
	case t.is("IN"):
		return p.in
	case t.is("BETWEEN"):
		return p.between
	case t.is("LIKE"):
		return p.like
	default:
		return nil
	}
}

// column reads a dotted path and finds it in the schema. Only struct fields are walked into: a list or a map has many
// values to one row, which a comparison cannot mean.
func (p *whereParser) column() (whereColumn, error) {
	first := p.token
	var parts []string
	for {
		if p.token.kind != tokenWord && p.token.kind != tokenQuoted {
			return whereColumn{}, p.unexpected("a column")
		}
		parts = append(parts, p.token.text)
		if err := p.advance(); err != nil {
			return whereColumn{}, err
		}
		if !p.token.symbol(".") {
			break
		}
		if err := p.advance(); err != nil {
			return whereColumn{}, err
		}
	}
	name := strings.Join(parts, ".")
	top, field, ok := findColumn(p.schema, name)
	if !ok {
		return whereColumn{}, p.fail(first, "no column %s; columns: %s", name, columnNames(p.schema))
	}
	if _, ok := field.Type.(iceberg.PrimitiveType); !ok {
		return whereColumn{}, p.fail(first, "%s is %s: name a field of it that has no fields of its own", name, field.Type)
	}
	if !slices.Contains(p.columns, top) {
		p.columns = append(p.columns, top)
	}
	return whereColumn{name: name, typ: field.Type, at: first}, nil
}

// findColumn is the field at a dotted path, and the name of the top-level column that it is in. A column whose own
// name holds a dot wins over a walk.
func findColumn(schema *iceberg.Schema, path string) (top string, field iceberg.NestedField, ok bool) {
	fields := schema.Fields()
	for {
		head, rest, nested := strings.Cut(path, ".")
		byName := func(name string) int {
			return slices.IndexFunc(fields, func(f iceberg.NestedField) bool { return f.Name == name })
		}
		i := byName(path)
		whole := i >= 0
		if !whole {
			i = byName(head)
		}
		if i < 0 || !whole && !nested {
			return "", iceberg.NestedField{}, false
		}
		top = cmp.Or(top, fields[i].Name)
		if whole {
			return top, fields[i], true
		}
		structure, isStruct := fields[i].Type.(*iceberg.StructType)
		if !isStruct {
			return "", iceberg.NestedField{}, false
		}
		path, fields = rest, structure.FieldList
	}
}

func columnNames(schema *iceberg.Schema) string {
	names := make([]string, 0, schema.NumFields())
	for _, f := range schema.Fields() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
