package advise

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// simulated is a day of a table, played file by file. It shares the prices with the model and none of its formulas.
type simulated struct {
	load   Load
	choice Choice
	rates  []float64 // shares of the rows, of every bucket
	random *rand.Rand

	waiting []pile // by bucket: files that were not rolled up yet
	live    [][]file
	cost    Cost
	held    float64 // bytes of waiting
	cpu     float64
}

// pile is the small files of a bucket.
type pile struct {
	files int
	bytes float64
	began float64 // the second of the first
}

// file is a live file of a bucket.
type file struct{ at, bytes float64 }

const (
	playedSeconds = 2 * 60 * 60 // of a day; queries look at the half of it at most
	playedQueries = 50          // in the second half
)

// playDay simulates a choice under rows of keys with the shares given, and scales the result to a day.
func playDay(l Load, c Choice, shares []float64) Cost {
	s := &simulated{load: l, choice: c, random: rand.New(rand.NewPCG(1, uint64(c.Buckets)))}
	s.cost = Cost{Choice: c, Freshness: c.Interval + latency(l, c.Buckets)}
	s.cost.Fresh = s.cost.Freshness <= l.Freshness
	s.waiting, s.live = make([]pile, c.Buckets), make([][]file, c.Buckets)
	s.rates = make([]float64, c.Buckets)
	for i, share := range shares {
		h := fnv.New32a()
		h.Write([]byte("key " + strconv.Itoa(i)))
		s.rates[h.Sum32()%uint32(c.Buckets)] += share
	}
	step := c.Interval.Seconds()
	for now := step; now <= playedSeconds; now += step {
		s.commit(now)
		for len(s.cost.QueryBytes) < playedQueries && s.nextQuery() < now {
			s.query(now)
		}
	}
	s.scale()
	return s.cost
}

// commit stores the rows of an interval, and rolls up what is old or large enough.
func (s *simulated) commit(now float64) {
	step := s.choice.Interval.Seconds()
	rowBytes := s.load.BytesPerSecond / s.load.RowsPerSecond
	some := false
	for b, rate := range s.rates {
		rows := s.poisson(s.load.RowsPerSecond * rate * step)
		p := &s.waiting[b]
		if rows > 0 {
			some = true
			s.cost.Files++
			s.cost.Puts++
			s.cpu += requestCPU + fieldCPU*float64(s.load.Fields) + entryCPU
			if p.files == 0 {
				p.began = now
			}
			p.files++
			p.bytes += rows * rowBytes
			s.held += rows * rowBytes
			s.live[b] = append(s.live[b], file{now, rows * rowBytes})
		}
		if p.files > 0 && (p.bytes >= s.choice.TargetBytes || now-p.began >= rollUpAge.Seconds()) {
			s.rollUp(b, now)
		}
	}
	if some {
		s.cost.Commits++
		s.cost.Puts += commitObjects
		s.cpu += commitCPU
	}
}

func (s *simulated) rollUp(b int, now float64) {
	p := s.waiting[b]
	s.waiting[b] = pile{}
	s.held -= p.bytes
	s.live[b] = append(s.live[b][:len(s.live[b])-p.files], file{now, p.bytes})
	s.cost.FilesAfter++
	s.cost.Puts += p.bytes / partBytes
	s.cpu += p.bytes/rollUpBytesPerCPU + float64(p.files)*(joinCPU+entryCPU)
	if p.files > 1 {
		s.cost.Puts += 2
	}
	if total := s.held + p.bytes; total > rollUpHeld {
		back := 1 - rollUpHeld/total
		s.cost.Gets += back * float64(p.files)
		s.cpu += back * (p.bytes/readBytesPerCPU + float64(p.files)*requestCPU)
	}
}

// nextQuery is the second of the next query.
func (s *simulated) nextQuery() float64 {
	return playedSeconds / 2 * (1 + float64(len(s.cost.QueryBytes))/playedQueries)
}

// query asks for a key of the newest part of the table, as often as it is written: on average.
func (s *simulated) query(now float64) {
	files, bytes, planned := 0.0, 0.0, 0.0
	for b := range s.live {
		for _, f := range s.live[b] {
			if f.at < now-s.load.Span.Seconds() {
				continue
			}
			planned++
			files += s.rates[b]
			bytes += s.rates[b] * f.bytes
		}
	}
	s.cost.QueryBytes = append(s.cost.QueryBytes, bytes)
	each := s.load.Queries * playedSeconds / daySeconds / playedQueries // that this one stands for
	s.cost.Gets += each * (files*getsOfFile + bytes/partBytes)
	s.cpu += each * (bytes/scanBytesPerCPU + files*openCPU + planned*planCPU)
}

// scale turns what was played into a day.
func (s *simulated) scale() {
	const factor = daySeconds / playedSeconds
	s.cost.Files *= factor
	s.cost.FilesAfter *= factor
	s.cost.Commits *= factor
	s.cost.Puts *= factor
	s.cost.Gets *= factor
	s.cost.CPUSeconds = s.cpu * factor
	sum := 0.0
	for _, b := range s.cost.QueryBytes {
		sum += b / playedQueries
	}
	s.cost.QueryBytes = []float64{sum}
	p := prices(s.load)
	s.cost.Dollars = s.cost.CPUSeconds*p.cpuSecond + s.cost.Puts*p.put + s.cost.Gets*p.get
}

// poisson draws a number of rows.
func (s *simulated) poisson(mean float64) float64 {
	if mean > 100 {
		return max(0, math.Round(mean+math.Sqrt(mean)*s.random.NormFloat64()))
	}
	n, p, limit := 0.0, s.random.Float64(), math.Exp(-mean)
	for p > limit {
		n++
		p *= s.random.Float64()
	}
	return n
}

// uniform, zipf and oneHot are shares of keys.
func uniform(n int) []float64 {
	shares := make([]float64, n)
	for i := range shares {
		shares[i] = 1 / float64(n)
	}
	return shares
}

func zipf(n int, exponent float64) []float64 {
	shares, sum := make([]float64, n), 0.0
	for i := range shares {
		shares[i] = math.Pow(float64(i+1), -exponent)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

func oneHot(n int, hot float64) []float64 {
	shares := uniform(n)
	for i := range shares {
		shares[i] *= 1 - hot
	}
	shares[0] += hot
	return shares
}

// keysFrom is what a measurement would find of keys: those that stand out one by one, the rest by their number.
func keysFrom(shares []float64) Keys {
	const hotMin = 1.0 / 256
	k := Keys{}
	for _, s := range shares {
		if s >= hotMin && s > 1.5/float64(len(shares)) {
			k.Hot = append(k.Hot, s)
		} else {
			k.Distinct++
		}
	}
	return k
}

// loadOf is a load whose queries filter by one column with such keys.
func loadOf(bytesPerSecond, rowBytes float64, shares []float64, queries float64, freshness time.Duration) Load {
	return Load{
		BytesPerSecond: bytesPerSecond, RowsPerSecond: bytesPerSecond / rowBytes, Fields: 10, Others: 1, ObjectStore: true,
		Filters: []Filter{{Column: "key", Bucket: true, Keys: keysFrom(shares), HeldShare: 1}},
		Queries: queries, Span: time.Hour, Freshness: freshness,
	}
}
