package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"firn/internal/job"
	"firn/internal/metric"
	"firn/internal/table"
	"firn/internal/wire"
)

// demoSchema is the columns of a template's messages, or nil.
func demoSchema(template string) []job.SchemaField {
	switch template {
	case "reference":
		return []job.SchemaField{{Name: "logStreamId", Type: "long"}, {Name: "message", Type: "string"}}
	case "GAME_EVENT":
		return []job.SchemaField{
			{Name: "eventId", Type: "uuid"}, {Name: "eventTimestamp", Type: "long"}, {Name: "ipv4", Type: "string"},
			{Name: "ipv6", Type: "string"}, {Name: "country", Type: "string"}, {Name: "username", Type: "string"},
			{Name: "quest", Type: "string"}, {Name: "score", Type: "int"}, {Name: "completed", Type: "boolean"},
		}
	default:
		return nil
	}
}

// demoTableRead is what the demo shows of its table, as read back from it.
type demoTableRead struct {
	Rows      int64      `json:"rows"`
	Files     int64      `json:"files"`
	FileBytes int64      `json:"file_bytes"`
	Metadata  string     `json:"metadata"`
	First     table.Rows `json:"first_rows"`
}

func readDemoTable(ctx context.Context, j *job.Job) (r demoTableRead, err error) {
	c, err := wire.OpenCatalog(ctx, j.Sink.Iceberg.Catalog, slog.New(slog.DiscardHandler))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	t, err := c.Load(ctx, j.Sink.Iceberg.Table)
	if err != nil {
		return r, err
	}
	files, err := t.Files(ctx, table.FilesOptions{})
	if err != nil {
		return r, err
	}
	for _, f := range files {
		r.Files++
		r.Rows += f.Rows
		r.FileBytes += f.Bytes
	}
	r.Metadata = t.MetadataLocation()
	r.First, err = t.Peek(ctx, table.PeekOptions{})
	return r, err
}

func printDemoJSON(g *globalOptions, s metric.Summary, made int64, r demoTableRead) error {
	return json.NewEncoder(g.Stdout).Encode(struct {
		Made  int64          `json:"messages_made"`
		Run   metric.Summary `json:"run"`
		Table demoTableRead  `json:"table"`
	}{made, s, r})
}
