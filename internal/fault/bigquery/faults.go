package bigquery

import (
	"sync"
	"time"
)

// Fate is what becomes of an append or of a call. The zero Fate is that it is done and answered.
type Fate struct {
	// Skip has it not done.
	Skip bool
	// Err, a status, is the answer in place of its own. That of an append comes within the stream unless End is set.
	Err error
	// End ends the gRPC stream of an append, with Err; what was sent behind it is not looked at.
	End bool
	// Cut closes the TCP connection in place of an answer.
	Cut bool
	// Hold has the answer wait until it is closed. Those of later appends on the stream wait too; they are done before.
	Hold <-chan struct{}
	// Stall gives no answer; the client has to give up.
	Stall bool
}

// Pass lets it through.
func Pass() Fate { return Fate{} }

// Refuse answers with an error and does nothing. A gRPC stream stays.
func Refuse(err error) Fate { return Fate{Skip: true, Err: err} }

// RefuseAndEnd does nothing and ends the gRPC stream with an error.
func RefuseAndEnd(err error) Fate { return Fate{Skip: true, Err: err, End: true} }

// Cut does nothing and closes the TCP connection.
func Cut() Fate { return Fate{Skip: true, Cut: true} }

// Land does it and answers with an error in place of what it did.
func Land(err error) Fate { return Fate{Err: err} }

// LandAndEnd does it and ends the gRPC stream with an error: the append is stored and its answer lost.
func LandAndEnd(err error) Fate { return Fate{Err: err, End: true} }

// LandAndCut does it and closes the TCP connection: it is done and its answer lost.
func LandAndCut() Fate { return Fate{Cut: true} }

// LandLate does it and answers when the channel is closed.
func LandLate(when <-chan struct{}) Fate { return Fate{Hold: when} }

// LandAndStall does it and never answers.
func LandAndStall() Fate { return Fate{Stall: true} }

// AppendCall is a request on an AppendRows stream.
type AppendCall struct {
	N          int // of all appends to the server, from 1
	Connection int // of the AppendRows streams, from 1
	Stream     string
	Offset     int64 // -1: none
	Rows       int
}

// Call is another call of the service.
type Call struct {
	N      int    // of all calls of the method, from 1
	Method string // CreateWriteStream, GetWriteStream, FinalizeWriteStream, BatchCommitWriteStreams, FlushRows
	Name   string // of the table or stream
}

// Faults says what goes wrong. Functions are called from any goroutine, several at a time; they may block, which delays
// what they are asked about and Close. All may be changed at any time. It is safe for concurrent use.
type Faults struct {
	server *Server

	mu          sync.Mutex
	onAppend    func(AppendCall) Fate
	onCall      func(Call) Fate
	onConnect   func(n int) error
	hiddenCalls int
	createsMax  int
	keepFirst   bool
	connections int
	appends     int
	calls       map[string]int
	creates     []time.Time
	opened      int
}

// OnAppend asks decide for the fate of each append; nil asks nobody.
func (f *Faults) OnAppend(decide func(AppendCall) Fate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onAppend = decide
}

// OnCall asks decide for the fate of each call that is no append; nil asks nobody.
func (f *Faults) OnCall(decide func(Call) Fate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onCall = decide
}

// OnConnect asks for each AppendRows stream, counted from 1, whether it may be opened; nil lets all.
func (f *Faults) OnConnect(decide func(n int) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onConnect = decide
}

// HideNewTables has the write API not find tables that are made from now on for a number of calls and appends each, as
// happens after their creation.
func (f *Faults) HideNewTables(calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hiddenCalls = calls
}

// LimitCreates has CreateWriteStream fail by its quota beyond a number of calls within a minute; 0 has it not.
func (f *Faults) LimitCreates(perMinute int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.createsMax, f.creates = perMinute, nil
}

// LimitConnections has AppendRows streams refused by quota while there are so many; 0 has none refused.
func (f *Faults) LimitConnections(most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connections = most
}

// KeepFirstConnection says who writes to an explicit stream when a second connection wants to: the first one, and the
// second is ended, in place of the other way round. Google says only that there is one.
func (f *Faults) KeepFirstConnection(keep bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keepFirst = keep
}

// keepsFirst is what KeepFirstConnection said.
func (f *Faults) keepsFirst() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keepFirst
}

// EndConnections ends all AppendRows streams that are open with an error, after the append in hand.
func (f *Faults) EndConnections(err error) { f.server.endConnections(err) }

// CloseIdle ends all AppendRows streams as the server does with those that were idle for ten minutes.
func (f *Faults) CloseIdle() { f.server.endConnections(errIdle) }

// CutConnections closes all TCP connections of the write API.
func (f *Faults) CutConnections() { f.server.gate.cut() }

// Drain tells the clients of all TCP connections to go away (GOAWAY of HTTP/2): streams that are open go on, new ones
// need a new TCP connection.
func (f *Faults) Drain() { f.server.drain() }

// Expire has a write stream not found any more. It returns whether there was one.
func (f *Faults) Expire(stream string) bool { return f.server.expire(stream) }

func (f *Faults) append(c AppendCall) Fate {
	f.mu.Lock()
	f.appends++
	c.N = f.appends
	decide := f.onAppend
	f.mu.Unlock()
	if decide == nil {
		return Fate{}
	}
	return decide(c)
}

func (f *Faults) call(method, name string) Fate {
	f.mu.Lock()
	f.calls[method]++
	c := Call{N: f.calls[method], Method: method, Name: name}
	decide := f.onCall
	f.mu.Unlock()
	if decide == nil {
		return Fate{}
	}
	return decide(c)
}

// connect counts an AppendRows stream beside open ones, and tells whether it may be.
func (f *Faults) connect(open int) (n int, err error) {
	f.mu.Lock()
	f.opened++
	n = f.opened
	decide, most := f.onConnect, f.connections
	f.mu.Unlock()
	if most > 0 && open >= most {
		return n, errConnections
	}
	if decide == nil {
		return n, nil
	}
	return n, decide(n)
}

// create tells whether another write stream may be made now.
func (f *Faults) create(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.createsMax == 0 {
		return nil
	}
	for len(f.creates) > 0 && now.Sub(f.creates[0]) >= time.Minute {
		f.creates = f.creates[1:]
	}
	if len(f.creates) >= f.createsMax {
		return CreateQuota()
	}
	f.creates = append(f.creates, now)
	return nil
}
