package table

import (
	"strings"

	"github.com/apache/iceberg-go"
)

func comparisonOf(t token) (iceberg.Operation, bool) {
	if t.kind != tokenSymbol {
		return 0, false
	}
	switch t.text {
	case "=":
		return iceberg.OpEQ, true
	case "!=":
		return iceberg.OpNEQ, true
	case "<":
		return iceberg.OpLT, true
	case "<=":
		return iceberg.OpLTEQ, true
	case ">":
		return iceberg.OpGT, true
	case ">=":
		return iceberg.OpGTEQ, true
	default:
		return 0, false
	}
}

func (p *whereParser) comparison(c whereColumn, op iceberg.Operation, negate bool) (iceberg.BooleanExpression, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	lit, err := p.literal(c)
	if err != nil {
		return nil, err
	}
	return compare(c, op, lit, negate), nil
}

// compare is a comparison as SQL means it. Iceberg takes != as true for a null, SQL does not; and what is not less
// than a number is a number from there on, or NaN.
func compare(c whereColumn, op iceberg.Operation, lit iceberg.Literal, negate bool) iceberg.BooleanExpression {
	if negate {
		op = op.Negate()
	}
	e := iceberg.BooleanExpression(iceberg.LiteralPredicate(op, c.ref(), lit))
	ordered := op != iceberg.OpEQ && op != iceberg.OpNEQ
	switch {
	case op == iceberg.OpNEQ:
		return iceberg.NewAnd(iceberg.NotNull(c.ref()), e)
	case negate && ordered && isFloat(c.typ):
		return iceberg.NewOr(e, iceberg.IsNaN(c.ref()))
	default:
		return e
	}
}

func isFloat(t iceberg.Type) bool {
	return t.Equals(iceberg.PrimitiveTypes.Float32) || t.Equals(iceberg.PrimitiveTypes.Float64)
}

func (p *whereParser) is(c whereColumn, negate bool) (iceberg.BooleanExpression, error) {
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	negate = negate != not
	what := p.token
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case what.is("NULL") && negate:
		return iceberg.NotNull(c.ref()), nil
	case what.is("NULL"):
		return iceberg.IsNull(c.ref()), nil
	case what.is("NAN") && !isFloat(c.typ):
		return nil, p.fail(what, "only float and double columns can be NaN; %s is %s", c.name, c.typ)
	case what.is("NAN") && negate:
		return iceberg.NewAnd(iceberg.NotNull(c.ref()), iceberg.NotNaN(c.ref())), nil
	case what.is("NAN"):
		return iceberg.IsNaN(c.ref()), nil
	default:
		return nil, p.fail(what, "want NULL or NAN, got %s", what)
	}
}

func (p *whereParser) in(c whereColumn, negate bool) (iceberg.BooleanExpression, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	op := iceberg.OpEQ
	var terms []iceberg.BooleanExpression
	for {
		lit, err := p.literal(c)
		if err != nil {
			return nil, err
		}
		terms = append(terms, compare(c, op, lit, negate))
		if p.token.symbol(")") {
			return joinTerms(terms, negate), p.advance()
		}
		if !p.token.symbol(",") {
			return nil, p.unexpected(", or )")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
}

func (p *whereParser) between(c whereColumn, negate bool) (iceberg.BooleanExpression, error) {
	low, err := p.literal(c)
	if err != nil {
		return nil, err
	}
	if and, err := p.accept("AND"); err != nil {
		return nil, err
	} else if !and {
		return nil, p.unexpected("AND")
	}
	high, err := p.literal(c)
	if err != nil {
		return nil, err
	}
	terms := []iceberg.BooleanExpression{
		compare(c, iceberg.OpGTEQ, low, negate), compare(c, iceberg.OpLTEQ, high, negate),
	}
	return joinTerms(terms, !negate), nil
}

// like takes text with a single % at its end, which is what Iceberg can look up; \%, \_ and \\ stand for themselves.
func (p *whereParser) like(c whereColumn, negate bool) (iceberg.BooleanExpression, error) {
	pattern := p.token
	if !c.typ.Equals(iceberg.PrimitiveTypes.String) {
		return nil, p.fail(pattern, "LIKE wants a string column; %s is %s", c.name, c.typ)
	}
	if pattern.kind != tokenString {
		return nil, p.unexpected("quoted text")
	}
	prefix, open, ok := likePrefix(pattern.text)
	if !ok {
		return nil, p.fail(pattern, "only 'prefix%%' is supported, with one %% at the end; "+
			"write \\%% or \\_ for the characters")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case !open:
		return compare(c, iceberg.OpEQ, iceberg.NewLiteral(prefix), negate), nil
	case prefix == "" && negate:
		return iceberg.AlwaysFalse{}, nil
	case prefix == "":
		return iceberg.NotNull(c.ref()), nil
	case negate:
		return iceberg.NewAnd(iceberg.NotNull(c.ref()), iceberg.NotStartsWith(c.ref(), prefix)), nil
	default:
		return iceberg.StartsWith(c.ref(), prefix), nil
	}
}

// likePrefix is the text before a closing %; open says whether there is one.
func likePrefix(pattern string) (prefix string, open, ok bool) {
	var text strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			if i++; i == len(pattern) {
				return "", false, false
			}
			text.WriteByte(pattern[i])
		case '%':
			return text.String(), true, i == len(pattern)-1
		case '_':
			return "", false, false
		default:
			text.WriteByte(c)
		}
	}
	return text.String(), false, true
}
