package gen

import (
	"strconv"
	"time"
)

func dateFunctions() []function {
	functions := []function{
		{"timestamp", "|begin,end", 0, 2, func(c *compiler, k *call) node {
			return compileTimestamp(c, k, time.Millisecond)
		}},
		{"timestampSeconds", "|begin,end", 0, 2, func(c *compiler, k *call) node {
			return compileTimestamp(c, k, time.Second)
		}},
		{"toTimestamp", "date|date,pattern", 1, 2, func(c *compiler, k *call) node {
			return compileToTimestamp(c, k, time.Millisecond)
		}},
		{"toTimestampSeconds", "date|date,pattern", 1, 2, func(c *compiler, k *call) node {
			return compileToTimestamp(c, k, time.Second)
		}},
		{"date", "|pattern|begin,end|begin,end,pattern|begin,end,inputPattern,pattern", 0, 4, compileDate},
		{"dateFormat", "date,inputPattern,pattern", 3, 3, compileDateFormat},
	}
	for _, u := range []struct {
		name string
		add  func(t time.Time, n int) time.Time
	}{
		{"addSeconds", addSeconds},
		{"addMinutes", func(t time.Time, n int) time.Time { return addSeconds(t, 60*n) }},
		{"addHours", func(t time.Time, n int) time.Time { return addSeconds(t, 3600*n) }},
		{"addDays", func(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) }},
		{"addWeeks", func(t time.Time, n int) time.Time { return t.AddDate(0, 0, 7*n) }},
		{"addMonths", addMonths},
		{"addYears", func(t time.Time, n int) time.Time { return addMonths(t, 12*n) }},
	} {
		functions = append(functions, function{u.name, "date,n|pattern,date,n", 2, 3, func(c *compiler, k *call) node {
			return compileAdd(c, k, u.add)
		}})
	}
	return functions
}

func addSeconds(t time.Time, n int) time.Time {
	return time.Unix(t.Unix()+int64(n), int64(t.Nanosecond())).UTC()
}

// addMonths keeps the day, or takes the last one of a shorter month, as Calendar.add does in Java.
func addMonths(t time.Time, n int) time.Time {
	first := t.AddDate(0, 0, 1-t.Day()).AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// dateArgument is a date in a template, with the pattern that it is written in.
type dateArgument struct {
	text    *textArgument
	pattern *argument[*datePattern]
	date    time.Time
	fixed   bool // both are constants and date is read
}

func newDate(c *compiler, o operand, pattern *argument[*datePattern]) *dateArgument {
	d := &dateArgument{text: newText(c, o), pattern: pattern}
	if c.fault == nil && d.text.nested == nil && pattern.nested == nil {
		var err error
		if d.date, err = pattern.constant.parse(o.text, c.template.now()); err != nil {
			c.fail(o.offset, err)
		}
		d.fixed = true
	}
	return d
}

// value is the date in UTC.
func (d *dateArgument) value(s *State) time.Time {
	if d.fixed {
		return d.date
	}
	text := d.text.constant
	if d.text.nested != nil {
		text = string(s.text(d.text.nested))
	}
	pattern := d.pattern.value(s)
	if s.fault != nil {
		return time.Time{}
	}
	t, err := pattern.parse(text, s.template.now())
	if err != nil {
		s.fail(d.text.at, err)
	}
	return t
}

// newPattern is operand i as a date pattern, or the fallback when there is no such operand.
func newPattern(c *compiler, k *call, i int, fallback string) *argument[*datePattern] {
	o := operand{text: fallback, offset: k.offset}
	if i >= 0 && i < len(k.operands) {
		o = k.operands[i]
	}
	return newArgument(c, o, parseDatePattern)
}

// dateRange is two dates to choose between; the end is exclusive, in milliseconds.
type dateRange struct {
	begin, end *dateArgument
	call       *call
}

func newDateRange(c *compiler, k *call, pattern *argument[*datePattern]) *dateRange {
	return &dateRange{newDate(c, k.operands[0], pattern), newDate(c, k.operands[1], pattern), k}
}

func (r *dateRange) choose(s *State) time.Time {
	begin, end := r.begin.value(s), r.end.value(s)
	width := end.UnixMilli() - begin.UnixMilli()
	switch {
	case s.fault != nil || width == 0:
		return begin
	case width < 0:
		s.fail(r.call.offset, reversed(r.call, begin.Format(time.DateTime), end.Format(time.DateTime)))
		return begin
	}
	return time.UnixMilli(begin.UnixMilli() + int64(s.random.below(uint64(width)))).UTC()
}

func compileTimestamp(c *compiler, k *call, unit time.Duration) node {
	switch len(k.operands) {
	case 0:
		return func(dst []byte, s *State) []byte { return appendUnix(dst, s.template.now(), unit) }
	case 1:
		c.fail(k.offset, problemf("write both dates or none", "%s does not take 1 argument", k.name))
		return nil
	}
	between := newDateRange(c, k, newPattern(c, k, -1, dateInput))
	return func(dst []byte, s *State) []byte { return appendUnix(dst, between.choose(s), unit) }
}

// appendUnix writes the units since 1970, rounded toward zero as Java's division does.
func appendUnix(dst []byte, t time.Time, unit time.Duration) []byte {
	return strconv.AppendInt(dst, t.UnixMilli()/unit.Milliseconds(), 10)
}

func compileToTimestamp(c *compiler, k *call, unit time.Duration) node {
	date := newDate(c, k.operands[0], newPattern(c, k, 1, dateDefault))
	return func(dst []byte, s *State) []byte { return appendUnix(dst, date.value(s), unit) }
}

func compileDate(c *compiler, k *call) node {
	n := len(k.operands)
	if n < 2 {
		pattern := newPattern(c, k, 0, dateDefault)
		return func(dst []byte, s *State) []byte { return appendDate(dst, s, pattern, s.template.now().UTC()) }
	}
	input := newPattern(c, k, -1, dateInput)
	if n == 4 {
		input = newPattern(c, k, 2, "")
	}
	output := newPattern(c, k, max(2, n-1), dateDefault)
	between := newDateRange(c, k, input)
	return func(dst []byte, s *State) []byte { return appendDate(dst, s, output, between.choose(s)) }
}

func appendDate(dst []byte, s *State, pattern *argument[*datePattern], t time.Time) []byte {
	p := pattern.value(s)
	if s.fault != nil {
		return dst
	}
	return p.append(dst, t)
}

func compileDateFormat(c *compiler, k *call) node {
	date := newDate(c, k.operands[0], newPattern(c, k, 1, ""))
	output := newPattern(c, k, 2, "")
	return func(dst []byte, s *State) []byte { return appendDate(dst, s, output, date.value(s)) }
}

func compileAdd(c *compiler, k *call, add func(t time.Time, n int) time.Time) node {
	last := len(k.operands) - 1
	pattern := newPattern(c, k, last-2, dateInput)
	date := newDate(c, k.operands[last-1], pattern)
	amount := newArgument(c, k.operands[last], func(text string) (int64, error) {
		return parseWithin(text, "the amount of "+k.name, -1e9, 1e9)
	})
	return func(dst []byte, s *State) []byte {
		t := add(date.value(s), int(amount.value(s)))
		if y := t.Year(); s.fault == nil && (y < 1 || y > 9999) {
			s.fail(k.offset, problemf("add less", "%s leaves the years 1 to 9999", k.name))
		}
		return appendDate(dst, s, pattern, t)
	}
}
