package bench

import (
	"context"
	"strings"
)

// firnName is firn's name among the systems.
const firnName = "firn"

const firnConditions = "firn as firn run starts it: every setting at its default but codec and commit interval; " +
	"it commits earlier when its memory asks for it; hadoop catalog in a local folder; the CPU time is the process's " +
	"from start to end, start-up and warm-up included"

// entrants are the systems that take part in a case.
func (m *mover) entrants(c moveCase, peers []*peer) []*entrantRuns {
	list := []*entrantRuns{{name: firnName, conditions: firnConditions, move: m.own}}
	if c.floor {
		list = append(list, &entrantRuns{name: floorName, conditions: floorConditions, move: m.floor})
	}
	if !c.rivals {
		return list
	}
	for _, p := range peers {
		list = append(list, &entrantRuns{
			name: p.name, conditions: p.conditions(), may: true,
			move: func(ctx context.Context, c jobConfig) (measured, error) { return m.peer(ctx, p, c) },
		})
	}
	return list
}

// own has firn move the topic once, in a process of its own, until all is committed.
func (m *mover) own(ctx context.Context, c jobConfig) (measured, error) {
	process, err := m.session.startJob(ctx, c, true)
	if err != nil {
		return measured{}, err
	}
	report, err := process.report()
	if err != nil {
		return measured{}, err
	}
	if err := report.moved(m.sent.Messages); err != nil {
		return measured{}, err
	}
	files, err := c.files(ctx)
	if err != nil {
		return measured{}, err
	}
	mb, commits := float64(m.sent.Bytes)/1e6, report.Summary.Commits
	run := measured{
		mbPerCPUSecond: mb / process.cpu().Seconds(),
		peakMiB:        float64(report.PeakRSSBytes) / (1 << 20),
		files:          files,
		commits:        int(commits.Count),
		mbPerCommit:    mb / float64(max(commits.Count, 1)),
	}
	if at := commits.LastCommittedAt; at != nil {
		run.mbPerSecond = mb / at.Sub(report.Summary.Started).Seconds()
	}
	return run, nil
}

// isRival says whether a system is neither firn nor the floor.
func isRival(system string) bool {
	return system != firnName && system != floorName && strings.TrimSpace(system) != ""
}
