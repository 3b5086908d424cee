package gen

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// MessageBytesMax is the size of the largest message that a template may make. It is far above what brokers take
	// by default (1 MB) and keeps a mistyped repeat from filling the memory.
	MessageBytesMax = 16 << 20
	// messageStepsMax bounds the pieces of one message, so that nested repeats of empty bodies end too.
	messageStepsMax = 1 << 20
	// templateBytesMax bounds the text of a template.
	templateBytesMax = 1 << 20
)

// Options are the settings of a template. The zero value is good.
type Options struct {
	// Seed makes the messages of every worker reproducible. 0 takes a seed from the system, so that two generators
	// do not send the same "random" ids.
	Seed uint64
	// AllowEnvironment lets systemProperty read environment variables.
	AllowEnvironment bool
	// Now is the clock of timestamp, date and time; nil is time.Now.
	Now func() time.Time
}

// Template is a compiled template. It is safe for concurrent use; its States are not.
type Template struct {
	text     string
	root     block
	seed     uint64
	now      func() time.Time
	counters []*counter
	slots    int // of values kept by put
}

// Compile reads a template and checks it, by making one message of it too. The error is a *Error with line and column.
func Compile(text string, o Options) (*Template, error) {
	if len(text) > templateBytesMax {
		return nil, locate(text, 0, problemf("shorten it", "the template is longer than %d bytes", templateBytesMax))
	}
	p := parser{text: text}
	elements, err := p.block(len(text), 0)
	if err != nil {
		return nil, err
	}
	t := &Template{text: text, seed: o.Seed, now: o.Now}
	if t.now == nil {
		t.now = time.Now
	}
	if t.seed == 0 {
		if t.seed, err = systemSeed(); err != nil {
			return nil, err
		}
	}
	c := newCompiler(t, o.AllowEnvironment)
	t.root = c.block(elements)
	if c.fault != nil {
		return nil, c.fault
	}
	trial := newTrial(t)
	t.Append(nil, trial)
	return t, trial.Err()
}

func systemSeed() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("reading a random seed: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) | 1, nil
}

// Append appends one message to dst and returns the extended slice. After a failure, which State.Err tells, it appends
// nothing, for this and every later message.
func (t *Template) Append(dst []byte, s *State) []byte {
	if s.fault != nil {
		return dst
	}
	s.start, s.steps, s.spent = len(dst), 0, 0
	out := t.root.append(dst, s)
	if s.fault != nil {
		return out[:s.start]
	}
	return out
}

// CheckJSON makes one message and tells, if it is not JSON, where and why.
func (t *Template) CheckJSON() error {
	s := newTrial(t)
	message := t.Append(nil, s)
	if s.fault != nil {
		return s.fault
	}
	var value any
	err := json.Unmarshal(message, &value)
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		at := min(int(wrong.Offset), len(message))
		return fmt.Errorf("the template does not make JSON: %w, after %q; correct the text there", err,
			message[max(0, at-40):at])
	}
	return err
}

// State is what one worker needs to make messages: random numbers, counters, kept values and buffers.
// It has one owner and is not safe for concurrent use.
type State struct {
	template *Template
	random   random
	locals   []int64  // counters that resetIndex sets back, one each
	kept     [][]byte // values of put, by slot
	has      []bool
	buffers  [][]byte // results of nested calls
	used     int      // buffers that are in use
	start    int      // of the message in dst
	steps    int      // pieces made for the message
	spent    int      // bytes asked for by functions with a length
	trial    bool     // shared counters stay as they are
	fault    *Error
}

// NewState makes the state of a worker. With the same seed and number it gives the same messages, but for the clock
// and for the counters that the workers share.
func (t *Template) NewState(worker int) *State {
	s := &State{template: t, random: newRandom(t.seed, worker)}
	for _, c := range t.counters {
		s.locals = append(s.locals, c.start)
	}
	s.kept = make([][]byte, t.slots)
	s.has = make([]bool, t.slots)
	return s
}

// newTrial makes a state that leaves the shared counters of the template alone. Its seed is fixed, so that a template
// compiles always or never.
func newTrial(t *Template) *State {
	s := t.NewState(0)
	s.random = newRandom(1, 0)
	s.trial = true
	return s
}

// Err is the *Error that stopped the state from making messages, or nil.
func (s *State) Err() error {
	if s.fault == nil {
		return nil
	}
	return s.fault
}

// fail keeps the first fault.
func (s *State) fail(at int, err error) {
	if s.fault == nil {
		s.fault = locate(s.template.text, at, err)
	}
}

// spend asks for n more bytes of the message. On false the caller makes nothing.
func (s *State) spend(at, n int) bool {
	if n > MessageBytesMax || s.spent+n > MessageBytesMax {
		s.fail(at, tooLarge())
		return false
	}
	s.spent += n
	return true
}

func tooLarge() error {
	return problemf("ask for less", "the message would be larger than %d MiB", MessageBytesMax>>20)
}

// text runs a nested call and returns its result, which is good until the outermost call has ended.
func (s *State) text(n node) []byte {
	if s.used == len(s.buffers) {
		s.buffers = append(s.buffers, nil)
	}
	i := s.used
	s.used++
	// Calls below take the buffers after this one.
	result := n(s.buffers[i][:0], s)
	s.buffers[i] = result
	return result
}

// node appends one piece of a message.
type node func(dst []byte, s *State) []byte

// block is a sequence of pieces.
type block []piece

type piece struct {
	make   node
	offset int
}

func (b block) append(dst []byte, s *State) []byte {
	for i := range b {
		s.used = 0
		if s.steps++; s.steps > messageStepsMax {
			s.fail(b[i].offset, problemf("repeat less", "one message takes more than %d steps", messageStepsMax))
		}
		dst = b[i].make(dst, s)
		if len(dst)-s.start > MessageBytesMax {
			s.fail(b[i].offset, tooLarge())
		}
		if s.fault != nil {
			return dst
		}
	}
	return dst
}
