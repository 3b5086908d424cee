package gen

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
)

// counter is an index. All workers share it, so that its numbers are unique over a run; but when the template sets it
// back with resetIndex each worker has its own.
type counter struct {
	start  int64
	next   atomic.Int64
	local  bool
	number int // in State.locals
}

func counterFunctions() []function {
	return []function{
		{"index", "|name|start|name,start", 0, 2, compileIndex},
		{"resetIndex", "|name", 0, 1, compileResetIndex},
	}
}

// compileIndex: index(5) is the nameless counter, started at 5. As in the original the first call that names a counter
// sets its start.
func compileIndex(c *compiler, k *call) node {
	name, start := "", int64(0)
	if len(k.operands) > 0 {
		name = c.constantText(k, 0, "the name")
	}
	if len(k.operands) == 2 {
		start = c.constantStart(k)
	} else if v, err := strconv.ParseInt(name, 10, 64); err == nil {
		name, start = "", v
	}
	own := c.counter(name, start)
	return func(dst []byte, s *State) []byte {
		switch {
		case s.trial:
			return strconv.AppendInt(dst, own.start, 10)
		case own.local:
			s.locals[own.number]++
			return strconv.AppendInt(dst, s.locals[own.number]-1, 10)
		default:
			return strconv.AppendInt(dst, own.next.Add(1)-1, 10)
		}
	}
}

func (c *compiler) constantStart(k *call) int64 {
	v, err := parseLong(c.constantText(k, 1, "the start"))
	if err != nil {
		c.fail(k.operands[1].offset, err)
	}
	return v
}

func (c *compiler) counter(name string, start int64) *counter {
	own := c.counters[name]
	if own == nil {
		own = &counter{start: start, number: len(c.template.counters)}
		own.next.Store(start)
		c.counters[name] = own
		c.template.counters = append(c.template.counters, own)
	}
	return own
}

func compileResetIndex(c *compiler, k *call) node {
	name := ""
	if len(k.operands) > 0 {
		name = c.constantText(k, 0, "the name")
	}
	own := c.counters[name]
	if own == nil {
		c.fail(k.offset, problemf("write index(...) of the same name before it",
			"resetIndex finds no index %q", shorten(name)))
		return nil
	}
	own.local = true
	return func(dst []byte, s *State) []byte {
		if !s.trial {
			s.locals[own.number] = own.start
		}
		return dst
	}
}

func memoryFunctions() []function {
	return []function{
		{"put", "key,value", 2, 2, compilePut},
		{"get", "key", 1, 1, compileGet},
		{"systemProperty", "name", 1, 1, compileSystemProperty},
	}
}

// compilePut yields the value and keeps it for get, in the worker's own memory. Keys are constants, so that they
// become slots and the memory is bounded.
func compilePut(c *compiler, k *call) node {
	key := c.constantText(k, 0, "the key")
	value := newText(c, k.operands[1])
	slot, known := c.slots[key]
	if !known {
		slot = len(c.slots)
		c.slots[key] = slot
		c.template.slots = len(c.slots)
	}
	return func(dst []byte, s *State) []byte {
		start := len(dst)
		dst = value.append(dst, s)
		s.kept[slot] = append(s.kept[slot][:0], dst[start:]...)
		s.has[slot] = true
		return dst
	}
}

func compileGet(c *compiler, k *call) node {
	key := c.constantText(k, 0, "the key")
	slot, known := c.slots[key]
	if !known {
		do := "write a put of this key before it"
		if len(c.slots) > 0 {
			do = suggest(key, slices.Sorted(maps.Keys(c.slots)))
		}
		c.fail(k.offset, problemf(do, "no put before this get has the key %q", shorten(key)))
		return nil
	}
	return func(dst []byte, s *State) []byte {
		if !s.has[slot] && !s.trial {
			s.fail(k.offset, problemf("put it on every path", "get(%q) came before a put of that key", shorten(key)))
		}
		if !s.spend(k.offset, len(s.kept[slot])) {
			return dst
		}
		return append(dst, s.kept[slot]...)
	}
}

// compileSystemProperty reads an environment variable; a constant name is read once.
func compileSystemProperty(c *compiler, k *call) node {
	if !c.allowEnvironment {
		c.fail(k.offset, problemf("allow it for this template if you trust it",
			"systemProperty reads the environment, and that is not allowed"))
		return nil
	}
	value := newArgument(c, k.operands[0], func(name string) (string, error) {
		v, ok := os.LookupEnv(name)
		if !ok {
			return "", problemf("set it", "the environment has no variable %q", shorten(name))
		}
		return v, nil
	})
	return func(dst []byte, s *State) []byte {
		v := value.value(s)
		if !s.spend(k.offset, len(v)) {
			return dst
		}
		return append(dst, v...)
	}
}
