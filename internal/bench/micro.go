package bench

import (
	"context"
	"fmt"

	"firn/internal/parquet"
	"firn/internal/record"
	"firn/internal/table"
)

// microSampleMB is far more than the caches hold.
const microSampleMB = 64

// microBenchmark measures the parts of the hot path alone: a change is seen here before it is in a whole job.
func microBenchmark() Benchmark {
	return Benchmark{
		Name: "micro", Runs: 5, Summary: "decoder, pages and routing alone, each against its own plainest way",
		steps: func(o Options) int {
			steps := alternateSteps(o, 2)
			for range microKinds() {
				steps += alternateSteps(o, len(pageWays()))
			}
			for _, c := range routingCases() {
				steps += alternateSteps(o, 1+len(c.partitions))
			}
			return steps
		},
		run: func(ctx context.Context, s *session) ([]Result, error) {
			results, err := s.microDecode(ctx)
			if err != nil {
				return nil, err
			}
			for _, k := range microKinds() {
				more, err := s.microPages(ctx, k)
				if err != nil {
					return nil, err
				}
				results = append(results, more...)
			}
			for _, c := range routingCases() {
				more, err := s.microRouting(ctx, c)
				if err != nil {
					return nil, err
				}
				results = append(results, more...)
			}
			return results, nil
		},
	}
}

func microKinds() []kind { return []kind{narrow(), wide()} }

// microResults are those of entrants that were measured in turn: the speed of each, and that of all but the first as a
// multiple of the first one's CPU time.
func (s *session) microResults(
	part string, entrants []entrant, rates [][]float64, conditions func(i int) string,
) []Result {
	var results []Result
	for i, e := range entrants {
		name := "micro, " + part + ", " + e.name
		results = append(results, s.result(name, unitPerCPU, rates[i], conditions(i)))
		if i == 0 {
			continue
		}
		ratio := s.result(name+": CPU as a multiple of "+entrants[0].name, "times", pairs(rates[0], rates[i]),
			conditions(i)+"; measured in turn, run by run")
		ratio.LowerIsBetter = true
		results = append(results, ratio)
	}
	return results
}

// microDecode measures the decoder on both kinds of messages, in turn.
func (s *session) microDecode(ctx context.Context) ([]Result, error) {
	var entrants []entrant
	for _, k := range microKinds() {
		messages, err := newSample(k.template, s.amount(microSampleMB))
		if err != nil {
			return nil, err
		}
		w, err := decodeWork(messages, decodeCase{columns: k.columns})
		if err != nil {
			return nil, err
		}
		entrants = append(entrants, entrant{k.name, w})
	}
	rates, err := s.alternate(ctx, "decode", entrants)
	if err != nil {
		return nil, err
	}
	return s.microResults("decode", entrants, rates, func(int) string {
		return fmt.Sprintf("blocks of %d messages, from memory into reused columns, on one thread", blockRecords)
	}), nil
}

// pageWay is a way to make pages.
type pageWay struct {
	codec     parquet.Codec
	encodings parquet.Encodings
}

// pageWays are all codecs, and the other encodings where they may pay. The first is the one to compare with.
func pageWays() []pageWay {
	return []pageWay{
		{parquet.CodecNone, parquet.EncodingsCompatible},
		{parquet.CodecSnappy, parquet.EncodingsCompatible},
		{parquet.CodecLZ4Raw, parquet.EncodingsCompatible},
		{parquet.CodecZstd, parquet.EncodingsCompatible},
		{parquet.CodecGzip, parquet.EncodingsCompatible},
		{parquet.CodecNone, parquet.EncodingsAuto},
		{parquet.CodecZstd, parquet.EncodingsAuto},
	}
}

// String names the case.
func (c pageWay) String() string { return fmt.Sprintf("%s, %s encodings", c.codec, c.encodings) }

// microPages measures pages of one kind of rows, one file each time.
func (s *session) microPages(ctx context.Context, k kind) ([]Result, error) {
	r, err := newRows(k, s.amount(microSampleMB))
	if err != nil {
		return nil, err
	}
	cases := pageWays()
	files := make([]countedFiles, len(cases))
	entrants := make([]entrant, len(cases))
	for i, c := range cases {
		w, err := pageWork(r, c, &files[i])
		if err != nil {
			return nil, err
		}
		entrants[i] = entrant{c.String(), w}
	}
	rates, err := s.alternate(ctx, "pages of "+k.name+" rows", entrants)
	if err != nil {
		return nil, err
	}
	return s.microResults("pages of "+k.name+" rows", entrants, rates, func(i int) string {
		return fmt.Sprintf("%d rows into one file in memory, which is thrown away; it has %.2f of the size of the JSON",
			r.count, files[i].ratio(r))
	}), nil
}

// pageWork writes all rows into one file, by the page writer alone.
func pageWork(r *rows, c pageWay, files *countedFiles) (work, error) {
	options := parquet.DefaultOptions()
	options.Codec, options.Encodings = c.codec, c.encodings
	file, err := parquet.NewFile(r.schema, options)
	if err != nil {
		return nil, err
	}
	all := make([]int32, blockRecords)
	for i := range all {
		all[i] = int32(i)
	}
	return func() (int64, error) {
		files.flushes++
		for _, batch := range r.batches {
			if err := file.Append(batch.Columns, all[:batch.Rows]); err != nil {
				return 0, err
			}
		}
		if _, err := file.Finish(files); err != nil {
			return 0, err
		}
		file.Reset()
		return r.bytes, nil
	}, nil
}

// routingCase is partitionings of one kind of rows, compared with none.
type routingCase struct {
	kind       kind
	codec      parquet.Codec
	partitions []string
	goals      []float64 // CPU as a multiple of none's; 0: none
}

// routingGoalReason is why the goal is what it is.
const routingGoalReason = "64 buckets should cost 10 % at most"

func routingCases() []routingCase {
	return []routingCase{
		// 64 buckets, and 64 partitions of neighbouring ids.
		{narrow(), parquet.CodecZstd, []string{bucketed, "truncate(logStreamId, 15625)"}, []float64{1.1, 0}},
		{narrow(), parquet.CodecNone, []string{bucketed, "truncate(logStreamId, 15625)"}, []float64{0, 0}},
		{wide(), parquet.CodecZstd, []string{"day(ts)"}, []float64{0}}, // 365 of them
	}
}

// microRouting measures the sink on rows that it scatters, in turn with rows that it does not.
func (s *session) microRouting(ctx context.Context, c routingCase) ([]Result, error) {
	r, err := newRows(c.kind, s.amount(microSampleMB))
	if err != nil {
		return nil, err
	}
	texts := append([]string{""}, c.partitions...)
	files := make([]countedFiles, len(texts))
	entrants := make([]entrant, len(texts))
	for i, text := range texts {
		partition, err := partitionOf(text, r.schema)
		if err != nil {
			return nil, err
		}
		w, err := writeWork(ctx, r, c.codec, partition, &files[i])
		if err != nil {
			return nil, err
		}
		entrants[i] = entrant{text, w}
		if text == "" {
			entrants[i].name = "no partitions"
		}
	}
	part := fmt.Sprintf("routing of %s rows, %s", c.kind.name, c.codec)
	rates, err := s.alternate(ctx, part, entrants)
	if err != nil {
		return nil, err
	}
	results := s.microResults(part, entrants, rates, func(i int) string {
		return fmt.Sprintf("%d rows a flush through the Iceberg sink, in memory, files thrown away; they are %.2f of the "+
			"size of the JSON", r.count, files[i].ratio(r))
	})
	for i, goal := range c.goals {
		if goal > 0 {
			ratio := &results[2*i+2] // behind the first and each one's speed
			ratio.Goal, ratio.GoalReason = goal, routingGoalReason
		}
	}
	return results, nil
}

// partitionOf is the partitioning that a text says; none of an empty one.
func partitionOf(text string, schema *record.Schema) ([]table.PartitionField, error) {
	if text == "" {
		return nil, nil
	}
	p, err := table.ParsePartitionField(text)
	if err != nil {
		return nil, err
	}
	source, ok := schema.Find(p.Field)
	if !ok {
		return nil, fmt.Errorf("the messages have no field %s", p.Field)
	}
	field := table.PartitionField{
		SourceID: source.ID, FieldID: 1000, Name: p.Transform, Transform: p.Transform, Param: p.Param, Result: source.Type,
	}
	switch p.Transform {
	case "bucket":
		field.Result = record.Type{Kind: record.KindInt}
	case "day":
		field.Result = record.Type{Kind: record.KindDate}
	}
	return []table.PartitionField{field}, nil
}
