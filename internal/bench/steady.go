package bench

import "time"

// seen is the moment at which a snapshot of a rival's table was first seen.
type seen struct {
	at   time.Duration // since the process was started
	cpu  time.Duration // that the process had taken
	rows int64         // in the table
}

const (
	// warmCPU is what rivals on a Java machine take to start and to have their hot code compiled, as measured: 20 to 70
	// CPU-seconds.
	warmCPU = 60 * time.Second
	// coldRemark is behind a figure that could not leave out the start.
	coldRemark = "NOT in a steady state: the topic ended before the rival was warm, so that its start-up is in the " +
		"figure; measure with more --mb"
)

// steadySpeed is the speed of a rival between two of its commits, start-up and warm-up left out: the first after
// warmCPU and the last one. The speed on the clock leaves out the last commit too where it can, since a topic that has
// ended leaves a rival idle until its interval is over. Where that is slower than the whole run, what was left after
// the warm-up is a tail and not a steady state, and the whole run counts.
func steadySpeed(commits []seen, rowMB float64) (mbPerCPU, mbPerSecond float64, remark string) {
	if len(commits) == 0 {
		return 0, 0, coldRemark
	}
	from, warm := seen{}, commits
	for i, c := range commits {
		if c.cpu >= warmCPU {
			from, warm = c, commits[i+1:]
			break
		}
	}
	if from.rows == 0 || len(warm) == 0 {
		from, warm, remark = seen{}, commits, coldRemark
	}
	last := warm[len(warm)-1]
	clock := last
	if len(warm) > 1 {
		clock = warm[len(warm)-2]
	}
	steady := speed(from, last, rowMB, last.cpu-from.cpu)
	if whole := speed(seen{}, last, rowMB, last.cpu); whole > steady {
		return whole, speed(seen{}, last, rowMB, last.at), coldRemark
	}
	return steady, speed(from, clock, rowMB, clock.at-from.at), remark
}

func speed(from, to seen, rowMB float64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(to.rows-from.rows) * rowMB / took.Seconds()
}
