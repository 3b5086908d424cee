package advise

import (
	"math"
	"time"
)

// Choice is one way to partition a table and to commit to it.
type Choice struct {
	Column      string        // of the buckets; "" without buckets
	Buckets     int           // 1: none
	Interval    time.Duration // of commits
	TargetBytes float64       // of files after the roll-up
}

// Cost is what a choice costs a day.
type Cost struct {
	Choice
	Freshness  time.Duration // of the last row of an interval, when it becomes visible
	Fresh      bool          // Freshness is as short as asked for
	Commits    float64
	Files      float64 // as they are committed
	FilesAfter float64 // when the roll-up has joined them
	BytesAfter float64 // mean size of those
	Puts, Gets float64 // requests to the store, those of queries included
	CPUSeconds float64 // of commits, roll-up and queries
	RollUpCPU  float64 // share of the roll-up in the CPU of the whole job
	QueryBytes []float64
	Dollars    float64
}

const daySeconds = 24 * 60 * 60

// unit is one bucket of one combination of the other partition values.
type unit struct {
	count  float64 // units like this one
	full   float64 // chance that an interval has rows of it
	small  float64 // files of one roll-up
	cycle  float64 // seconds between two roll-ups
	merged float64 // bytes of one roll-up
}

// Of gives the cost of a choice.
func Of(l Load, c Choice) Cost {
	out := Cost{Choice: c}
	interval := c.Interval.Seconds()
	out.Freshness = c.Interval + latency(l, c.Buckets)
	out.Fresh = out.Freshness <= l.Freshness
	out.Commits = daySeconds / interval * -math.Expm1(-l.RowsPerSecond*interval)
	var held, merges float64 // bytes that are not rolled up yet, roll-ups a day
	var live reading
	span := l.Span.Seconds()
	for _, s := range keysOf(l, c.Column).Shares(c.Buckets) {
		u := unitOf(l, c, s)
		if u.full == 0 {
			continue
		}
		out.Files += u.count * u.full * daySeconds / interval
		out.FilesAfter += u.count * daySeconds / u.cycle
		held += u.count * u.merged / 2
		files := u.count * (span/u.cycle + u.small/2)
		live.files += files
		live.ofKey += s * files
		if u.small >= 2 {
			merges += u.count * daySeconds / u.cycle
		}
	}
	bytes := l.BytesPerSecond * daySeconds
	if out.FilesAfter > 0 {
		out.BytesAfter = bytes / out.FilesAfter
	}
	out.write(l, bytes, merges, held)
	out.query(l, live)
	p := prices(l)
	out.Dollars = out.CPUSeconds*p.cpuSecond + out.Puts*p.put + out.Gets*p.get
	return out
}

func keysOf(l Load, column string) Keys {
	for _, f := range l.Filters {
		if f.Column == column {
			return f.Keys
		}
	}
	return Keys{}
}

// unitOf is what becomes of the rows of a bucket with a share of all rows. A roll-up begins with the file that comes
// after the one before, and ends when its bytes reach the target or its age the limit.
func unitOf(l Load, c Choice, share float64) unit {
	interval, others := c.Interval.Seconds(), max(1, l.Others)
	rows := l.RowsPerSecond * share / others * interval
	if rows == 0 {
		return unit{}
	}
	full := -math.Expm1(-rows)
	bytes := l.BytesPerSecond * share / others
	pause := interval / full                                  // between two files
	filling := math.Ceil(c.TargetBytes/(bytes*pause)) * pause // the file that reaches the target goes beyond it
	cycle := min(filling, rollUpAge.Seconds()+pause)
	return unit{count: others, full: full, small: cycle / pause, cycle: cycle, merged: bytes * cycle}
}

// write adds what commits and the roll-up cost.
func (c *Cost) write(l Load, bytes, merges, held float64) {
	perFile := requestCost(l) + fieldCPU*float64(l.Fields)
	c.Puts = c.Commits*commitObjects + c.Files + merges*2 + bytes/partBytes
	commits := c.Commits*commitCPU + c.Files*(perFile+entryCPU)
	rollUp := bytes/rollUpBytesPerCPU + c.Files*(joinCPU+entryCPU)
	if held > rollUpHeld { // the rest is read back from the store
		back := 1 - rollUpHeld/held
		c.Gets += c.Files * back
		rollUp += back * (bytes/readBytesPerCPU + c.Files*requestCost(l))
	}
	c.CPUSeconds = commits + rollUp
	c.RollUpCPU = rollUp / (commits + rollUp + bytes/ingestBytesPerCPU)
}

// reading is the live files of the newest part of the table that a query looks at.
type reading struct {
	files float64 // all
	ofKey float64 // in the bucket of a key, on average over rows
}

// query adds what queries cost, each for a value of one of the filter columns.
func (c *Cost) query(l Load, live reading) {
	for _, f := range l.Filters {
		bytes, opened := f.HeldShare*l.BytesPerSecond*l.Span.Seconds(), f.HeldShare*live.files
		if f.Column == c.Column {
			bytes *= f.Keys.Read(c.Buckets)
			opened = f.HeldShare * live.ofKey
		}
		opened = max(1, opened)
		queries := l.Queries / float64(len(l.Filters))
		c.QueryBytes = append(c.QueryBytes, bytes)
		c.Gets += queries * (opened*getsOfFile + bytes/partBytes)
		c.CPUSeconds += queries * (bytes/scanBytesPerCPU + opened*openCPU + live.files*planCPU)
	}
}

// latency is how long rows need to become visible when their interval is over: files are stored some at once, then
// the commit writes its objects one after the other.
func latency(l Load, buckets int) time.Duration {
	request := diskRequest
	if l.ObjectStore {
		request = storeRequest
	}
	rounds := math.Ceil(float64(buckets) * max(1, l.Others) / sealersAtOnce)
	return time.Duration((rounds + commitObjects + 1) * float64(request))
}
