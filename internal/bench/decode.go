package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"firn/internal/decode"
	"firn/internal/gen"
	"firn/internal/record"
)

// decodeSampleMB is far more than the caches hold, so that messages come from memory as they do in a job.
const decodeSampleMB = 64

// decodeCase is one kind of message.
type decodeCase struct {
	name             string
	template         string
	columns          string
	numbersInStrings bool
	row              func() any // what the rival decodes into
	goal             float64
}

// decodeGoalReason is why the goals are what they are.
const decodeGoalReason = "a trial of the design reached it into Arrow's columns, on another machine " +
	"(docs/decisions/20261129-own-decoder-and-page-writer.md)"

func decodeCases() []decodeCase {
	return []decodeCase{
		{
			name: "narrow: a number and 962 letters", template: narrowTemplate, columns: narrowColumns,
			row: func() any { return new(narrowRow) }, goal: 1569,
		},
		{
			name: "narrow: its number in quotes", template: gen.ReferenceTemplate, columns: narrowColumns,
			numbersInStrings: true, row: func() any { return new(quotedRow) }, goal: 1569,
		},
		{
			name: "wide: 20 fields of mixed types", template: wideTemplate, columns: wideColumns,
			row: func() any { return new(wideRow) }, goal: 375,
		},
	}
}

func decodeBenchmark() Benchmark {
	return Benchmark{
		Name: "decode", Runs: 5, Summary: "JSON messages into typed columns, on one thread",
		steps: func(o Options) int { return len(decodeCases()) * alternateSteps(o, 2) },
		run: func(ctx context.Context, s *session) ([]Result, error) {
			var results []Result
			for _, c := range decodeCases() {
				r, err := s.decode(ctx, c)
				if err != nil {
					return nil, err
				}
				results = append(results, r)
			}
			return results, nil
		},
	}
}

// decode measures one kind of message, in turn with the standard library.
func (s *session) decode(ctx context.Context, c decodeCase) (Result, error) {
	messages, err := newSample(c.template, s.amount(decodeSampleMB))
	if err != nil {
		return Result{}, err
	}
	own, err := decodeWork(messages, c)
	if err != nil {
		return Result{}, err
	}
	const rival = "encoding/json"
	rates, err := s.alternate(ctx, "decode "+c.name, []entrant{{"firn", own}, {rival, unmarshalWork(messages, c.row)}})
	if err != nil {
		return Result{}, err
	}
	records := len(messages.blocks) * blockRecords
	r := s.result("decode, "+c.name, unitPerCPU, rates[0], fmt.Sprintf(
		"%d messages of %d bytes on average, in blocks of %d, from memory into reused columns",
		records, messages.bytes/int64(records), blockRecords))
	r.Goal, r.GoalReason = c.goal, decodeGoalReason
	r.Rival = &Rival{Name: rival, Value: median(rates[1]), Source: "the same messages into a struct, measured in turn " +
		"with firn by the same command"}
	return r, nil
}

// unitPerCPU is the unit of speed: a million bytes of JSON for each second of CPU time, all threads counted.
const unitPerCPU = "MB of JSON per CPU-second"

// decodeWork decodes one block after the other into the same batch, as a worker does.
func decodeWork(messages *sample, c decodeCase) (work, error) {
	schema, err := schemaOf(c.columns)
	if err != nil {
		return nil, err
	}
	options := decode.DefaultJSONOptions()
	options.AcceptNumbersInStrings = c.numbersInStrings
	decoder, err := decode.NewJSON(schema, options)
	if err != nil {
		return nil, err
	}
	batch := record.NewBatch(schema)
	return func() (int64, error) {
		for _, block := range messages.blocks {
			batch.Reset()
			decoder.Decode(block, batch)
			if len(batch.Rejected) > 0 {
				return 0, fmt.Errorf("a message of the sample was rejected: %s", batch.Rejected[0].Reason)
			}
		}
		return messages.bytes, nil
	}, nil
}

// unmarshalWork decodes each message into a new row by the standard library.
func unmarshalWork(messages *sample, row func() any) work {
	return func() (int64, error) {
		for _, block := range messages.blocks {
			for i := range block.Records {
				if err := json.Unmarshal(block.Records[i].Value, row()); err != nil {
					return 0, err
				}
			}
		}
		return messages.bytes, nil
	}
}

// The rows of the rival. Missing and null differ from zero, so that each field is a pointer.
type (
	narrowRow struct {
		LogStreamID *int64  `json:"logStreamId"`
		Message     *string `json:"message"`
	}
	quotedRow struct {
		LogStreamID *int64  `json:"logStreamId,string"`
		Message     *string `json:"message"`
	}
	wideRow struct {
		ID       *int64       `json:"id"`
		UserID   *int64       `json:"user_id"`
		Session  *string      `json:"session"`
		Event    *string      `json:"event"`
		OK       *bool        `json:"ok"`
		Score    *float64     `json:"score"`
		Lat      *float64     `json:"lat"`
		Lon      *float64     `json:"lon"`
		TS       *time.Time   `json:"ts"`
		Received *time.Time   `json:"recv"`
		Price    *json.Number `json:"price"`
		Quantity *int32       `json:"qty"`
		Country  *string      `json:"country"`
		Device   *wideDevice  `json:"device"`
		Referrer *string      `json:"referrer"`
		IP       *string      `json:"ip"`
		Agent    *string      `json:"ua"`
		New      *bool        `json:"is_new"`
		Note     *string      `json:"note"`
		Bytes    *int64       `json:"bytes"`
	}
	wideDevice struct {
		OS      *string `json:"os"`
		Version *string `json:"ver"`
		Width   *int32  `json:"w"`
		Retina  *bool   `json:"retina"`
	}
)
