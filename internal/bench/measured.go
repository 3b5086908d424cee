package bench

import (
	"fmt"
	"slices"
)

// measured is what one run of one system came to.
type measured struct {
	mbPerCPUSecond float64
	mbPerSecond    float64
	peakMiB        float64
	files          dataFiles
	commits        int
	mbPerCommit    float64
	remark         string // what is special about the run; empty: nothing
}

// Names of what is measured of a run.
const (
	measureCPU       = "MB per CPU-second"
	measureSpeed     = "MB per second"
	measurePeak      = "peak memory"
	measureWritten   = "bytes written"
	measureFiles     = "data files"
	measureFileMean  = "data file, mean"
	measureFileP50   = "data file, P50"
	measureFileMax   = "data file, largest"
	measureCommits   = "commits"
	measureCommitted = "MB of JSON per commit"
)

// measure is one thing that is measured of a run.
type measure struct {
	name  string
	unit  string
	lower bool // is better
	of    func(m *measured) float64
}

func measures() []measure {
	return []measure{
		{measureCPU, unitPerCPU, false, func(m *measured) float64 { return m.mbPerCPUSecond }},
		{measureSpeed, "MB of JSON per second", false, func(m *measured) float64 { return m.mbPerSecond }},
		{measurePeak, "MiB", true, func(m *measured) float64 { return m.peakMiB }},
		{measureWritten, "MB", true, func(m *measured) float64 { return m.files.totalMB() }},
		{measureFiles, "files", false, func(m *measured) float64 { return float64(len(m.files)) }},
		{measureFileMean, "MB", false, func(m *measured) float64 { return m.files.meanMB() }},
		{measureFileP50, "MB", false, func(m *measured) float64 { return percentile(m.files, 0.5) }},
		{measureFileMax, "MB", false, func(m *measured) float64 { return percentile(m.files, 1) }},
		{measureCommits, "commits", false, func(m *measured) float64 { return float64(m.commits) }},
		{measureCommitted, "MB", false, func(m *measured) float64 { return m.mbPerCommit }},
	}
}

// detailName is the name of the result of a measure.
func detailName(caseID, system, measure string) string {
	return fmt.Sprintf("%s, %s: %s", caseID, system, measure)
}

// details makes a result of each measure of a system's runs. Measures that are 0 in every run do not apply to it.
func (s *session) details(c moveCase, system string, runs []measured, conditions string) []Result {
	var results []Result
	for _, m := range measures() {
		values := make([]float64, len(runs))
		for i := range runs {
			values[i] = m.of(&runs[i])
		}
		if slices.Max(values) <= 0 {
			continue
		}
		r := s.result(detailName(c.id, system, m.name), m.unit, values, conditions)
		r.Case, r.System, r.Measure, r.LowerIsBetter = c.id, system, m.name, m.lower
		results = append(results, r)
	}
	return results
}

// findDetail is the result of a measure, nil when there is none.
func findDetail(details []Result, caseID, system, measure string) *Result {
	i := slices.IndexFunc(details, func(r Result) bool {
		return r.Case == caseID && r.System == system && r.Measure == measure
	})
	if i < 0 {
		return nil
	}
	return &details[i]
}
