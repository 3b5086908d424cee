package bench

import (
	"math"
	"testing"
	"time"
)

// commitsOf are commits every 10 s, each with the CPU-seconds and the rows in the table.
func commitsOf(values ...[2]int) []seen {
	var list []seen
	for i, v := range values {
		list = append(list, seen{time.Duration(i+1) * 10 * time.Second, time.Duration(v[0]) * time.Second, int64(v[1])})
	}
	return list
}

func TestSteadySpeed(t *testing.T) {
	warm := commitsOf([2]int{30, 100}, [2]int{61, 300}, [2]int{80, 600}, [2]int{95, 800}, [2]int{101, 900})
	for name, c := range map[string]struct {
		commits    []seen
		cpu, clock float64
		cold       bool
	}{
		// 2 MB a row: from 300 to 900 rows in 40 CPU-seconds; on the clock from 300 to 800 in 20 s.
		"warm":                      {warm, 30, 50, false},
		"one interval":              {commitsOf([2]int{60, 100}, [2]int{70, 300}), 40, 40, false},
		"the last one is the first": {commitsOf([2]int{30, 100}, [2]int{61, 305}), 10, 20, true},
		// After the warm-up 20 of 900 rows were left, in 40 CPU-seconds: all of them took 100.
		"a tail":     {commitsOf([2]int{60, 880}, [2]int{100, 900}), 18, 90, true},
		"never warm": {commitsOf([2]int{20, 100}, [2]int{40, 200}), 10, 20, true},
		"one commit": {commitsOf([2]int{20, 100}), 10, 20, true},
		"none":       {nil, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			cpu, clock, remark := steadySpeed(c.commits, 2)
			if math.Abs(cpu-c.cpu) > 1e-9 || math.Abs(clock-c.clock) > 1e-9 || (remark != "") != c.cold {
				t.Errorf("%v MB a CPU-second, %v MB a second, %q", cpu, clock, remark)
			}
		})
	}
}
