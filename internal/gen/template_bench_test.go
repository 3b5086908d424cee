package gen

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkReference makes reference messages on one core without sending them.
func BenchmarkReference(b *testing.B) { benchmarkTemplate(b, ReferenceTemplate) }

func BenchmarkBuiltin(b *testing.B) {
	for _, name := range []string{"GAME_EVENT", "LOG_ENTRY"} {
		text, _ := Builtin(name)
		b.Run(name, func(b *testing.B) { benchmarkTemplate(b, text) })
	}
}

// benchmarkTemplate reports megabytes per second of processor time, which other load on the machine changes little.
func benchmarkTemplate(b *testing.B, text string) {
	t, err := Compile(text, Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	s := t.NewState(0)
	dst := t.Append(nil, s)
	bytes := 0
	b.ReportAllocs()
	start := processorTime(b)
	for b.Loop() {
		dst = t.Append(dst[:0], s)
		bytes += len(dst)
	}
	used := processorTime(b) - start
	if s.Err() != nil {
		b.Fatal(s.Err())
	}
	b.ReportMetric(float64(bytes)/1e6/used.Seconds(), "MB/cpu-s")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
