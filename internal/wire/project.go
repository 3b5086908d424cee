package wire

import (
	"slices"

	"firn/internal/job"
	"firn/internal/record"
)

// project leaves out the top-level columns that the job does not want.
func project(s *record.Schema, d *job.Decode) (*record.Schema, error) {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	wanted, err := d.Columns(names)
	if err != nil {
		return nil, err
	}
	out := &record.Schema{ID: s.ID}
	for _, f := range s.Fields {
		if slices.Contains(wanted, f.Name) {
			out.Fields = append(out.Fields, f)
		}
	}
	return out, nil
}
