package gen

import (
	"strconv"
	"strings"
	"time"
)

func timeFunctions() []function {
	return []function{{"time", "|pattern|start,end|start,end,pattern", 0, 3, compileTime}}
}

// compileTime: the time of day now, or one from start to end (exclusive) in whole seconds.
func compileTime(c *compiler, k *call) node {
	n := len(k.operands)
	o := operand{text: clockDefault, offset: k.offset}
	if n == 1 || n == 3 {
		o = k.operands[n-1]
	}
	pattern := newArgument(c, o, parseClockPattern)
	if n < 2 {
		return func(dst []byte, s *State) []byte { return appendDate(dst, s, pattern, s.template.now().UTC()) }
	}
	start, end := newArgument(c, k.operands[0], parseClock), newArgument(c, k.operands[1], parseClock)
	return func(dst []byte, s *State) []byte {
		a, b := start.value(s), end.value(s)
		if b <= a {
			s.fail(k.offset, problemf("raise the end", "time has nothing to choose: the end must be after the start"))
			return dst
		}
		second := a + int64(s.random.below(uint64(b-a)))
		return appendDate(dst, s, pattern, time.Unix(second, 0).UTC())
	}
}

// parseClock reads 6PM, 6 PM, 6:05PM or 6:05 PM as the second of the day.
func parseClock(text string) (int64, error) {
	wrong := problemf("write it as 6PM or 6:05 PM", "%q is not a time of day", shorten(text))
	upper := strings.ToUpper(text)
	digits, afternoon := strings.CutSuffix(upper, "PM")
	if !afternoon {
		var morning bool
		if digits, morning = strings.CutSuffix(upper, "AM"); !morning {
			return 0, wrong
		}
	}
	hour, minute, exact := strings.Cut(strings.TrimSuffix(digits, " "), ":")
	if exact && len(minute) != 2 {
		return 0, wrong
	}
	if !exact {
		minute = "0"
	}
	h, errHour := strconv.ParseUint(hour, 10, 8)
	m, errMinute := strconv.ParseUint(minute, 10, 8)
	if errHour != nil || errMinute != nil || h < 1 || h > 12 || m > 59 {
		return 0, wrong
	}
	h %= 12
	if afternoon {
		h += 12
	}
	return int64(3600*h + 60*m), nil
}
