package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Result is one figure, measured once or several times. Value is the median of Runs.
type Result struct {
	Name          string    `json:"name"`
	Value         float64   `json:"value"`
	Unit          string    `json:"unit"`
	Case          string    `json:"case,omitempty"`    // of kafka-to-iceberg: how the table is written
	System        string    `json:"system,omitempty"`  // of kafka-to-iceberg: what wrote it
	Measure       string    `json:"measure,omitempty"` // of kafka-to-iceberg: what was measured of it
	LowerIsBetter bool      `json:"lower_is_better,omitempty"`
	Goal          float64   `json:"goal,omitempty"` // 0: none
	GoalReason    string    `json:"goal_reason,omitempty"`
	Rival         *Rival    `json:"rival,omitempty"` // the best one known
	OtherRivals   []Rival   `json:"other_rivals,omitempty"`
	Runs          []float64 `json:"runs"` // in the order in which they were measured
	Median        float64   `json:"median"`
	Conditions    string    `json:"conditions"`
	Command       string    `json:"command"`
	Commit        string    `json:"commit"`
	Machine       Machine   `json:"machine"`
	LoadAtStart   *float64  `json:"load_at_start,omitempty"` // mean of one minute before; nil: the system does not say
	Date          time.Time `json:"date"`
}

// Rival is what something else reached, and how that is known.
type Rival struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Source string  `json:"source"`
}

// ratio is how many times better a is than b; above 1 is better. It is 0 when one of them is missing.
func (r *Result) ratio(b float64) float64 {
	switch {
	case r.Value <= 0 || b <= 0:
		return 0
	case r.LowerIsBetter:
		return b / r.Value
	default:
		return r.Value / b
	}
}

// GoalRatio is how far the goal is exceeded: 1 is just reached, 0 is no goal.
func (r *Result) GoalRatio() float64 { return r.ratio(r.Goal) }

// RivalRatio is how many times better the result is than the best rival: 0 is no rival.
func (r *Result) RivalRatio() float64 {
	if r.Rival == nil {
		return 0
	}
	return r.ratio(r.Rival.Value)
}

// WriteFigure writes the results of a benchmark to NAME.json in the folder, which it makes when it is missing, and the
// same as a table to NAME.txt. It returns the path of the former. Each file is replaced at once or not at all.
func WriteFigure(folder, name string, results []Result) (string, error) {
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding the figure %s: %w", name, err)
	}
	var table bytes.Buffer
	if err := Print(&table, results); err != nil {
		return "", fmt.Errorf("printing the figure %s: %w", name, err)
	}
	if _, err := writeFile(folder, name+".txt", table.Bytes()); err != nil {
		return "", err
	}
	return writeFile(folder, name+".json", append(text, '\n'))
}

// writeFile replaces a file of the folder by a whole one.
func writeFile(folder, name string, text []byte) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("making the folder of figures: %w", err)
	}
	path := filepath.Join(folder, name)
	//nolint:gosec // everyone may read a figure
	if err := os.WriteFile(path+".part", text, 0o644); err != nil {
		return "", fmt.Errorf("writing the figure %s: %w", name, err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return "", fmt.Errorf("writing the figure %s: %w", name, err)
	}
	return path, nil
}

// ReadFigure reads what WriteFigure wrote.
func ReadFigure(folder, name string) ([]Result, error) {
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		return nil, fmt.Errorf("reading the figure %s: %w", name, err)
	}
	var results []Result
	if err := json.Unmarshal(text, &results); err != nil {
		return nil, fmt.Errorf("reading the figure %s: %w", name, err)
	}
	return results, nil
}
