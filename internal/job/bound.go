package job

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// bound is the range of a setting that is a number, both ends allowed.
type bound struct {
	path               string
	value, least, most int64
	text               func(int64) string
}

// bounds lists every setting with a range. docs/job-file.md is checked against it.
func (j *Job) bounds() []bound {
	k, i, l := &j.Source.Kafka, &j.Sink.Iceberg, &j.Limits
	return []bound{
		durationBound("source.kafka.metadata_interval", k.MetadataInterval, 100*time.Millisecond, time.Hour),
		sizeBound("source.kafka.fetch_bytes_max", k.FetchBytesMax, 64<<10, 1<<30),
		countBound("decode.depth_max", j.Decode.DepthMax, 1, 1000),
		durationBound("sink.iceberg.commit_interval", i.CommitInterval, 200*time.Millisecond, 24*time.Hour),
		durationBound("sink.iceberg.commit_timeout", i.CommitTimeout, time.Second, 7*24*time.Hour),
		sizeBound("sink.iceberg.target_file_size", i.TargetFileSize, 64<<10, 4<<30),
		durationBound("sink.iceberg.rollup.max_age", i.Rollup.MaxAge, 0, 7*24*time.Hour),
		sizeBound("sink.iceberg.rollup.spool_size", i.Rollup.SpoolSize, 0, 1<<50),
		countBound("sink.iceberg.expire.keep", i.Expire.Keep, 1, 1_000_000),
		durationBound("sink.iceberg.expire.delete_after", i.Expire.DeleteAfter, time.Second, 30*24*time.Hour),
		durationBound("sink.iceberg.orphans.older_than", i.Orphans.OlderThan, time.Hour, 365*24*time.Hour),
		durationBound("sink.iceberg.orphans.interval", i.Orphans.Interval, time.Minute, 30*24*time.Hour),
		countBound("limits.workers", l.Workers, 0, 1024),
		sizeBound("limits.memory", l.Memory, 32<<20, 1<<40),
		durationBound("limits.shutdown_timeout", l.ShutdownTimeout, time.Second, time.Hour),
		durationBound("limits.connect_timeout", l.ConnectTimeout, time.Second, time.Hour),
	}
}

func durationBound(path string, value, least, most time.Duration) bound {
	text := func(n int64) string { return durationText(time.Duration(n)) }
	return bound{path, int64(value), int64(least), int64(most), text}
}

func sizeBound(path string, value, least, most ByteSize) bound {
	text := func(n int64) string { return ByteSize(n).String() }
	return bound{path, int64(value), int64(least), int64(most), text}
}

func countBound(path string, value, least, most int) bound {
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	return bound{path, int64(value), int64(least), int64(most), text}
}

func (c *checker) bound(b bound) {
	low, high := "too small", "too large"
	if strings.HasSuffix(b.path, "_interval") || strings.HasSuffix(b.path, "_timeout") {
		low, high = "too short", "too long"
	}
	if b.value < b.least {
		c.fault(b.path, b.text(b.value)+" is "+low, "use "+b.text(b.least)+" or more")
	}
	if b.value > b.most {
		c.fault(b.path, b.text(b.value)+" is "+high, "use "+b.text(b.most)+" or less")
	}
}

// choice is the set of words that a setting takes; an empty word among them means that it may be left out.
type choice struct {
	path, value string
	allowed     []string
}

// choices lists every setting that takes one of a few words. docs/job-file.md is checked against it.
func (j *Job) choices() []choice {
	k, d := &j.Source.Kafka, &j.Decode
	return []choice{
		{"kind", j.Kind, Kinds()},
		{"source.kafka.isolation", k.Isolation, []string{"read_committed", "read_uncommitted"}},
		{"source.kafka.on_gap", k.OnGap, []string{"continue", "stop"}},
		{"source.kafka.on_recreated", k.OnRecreated, []string{"restart", "stop"}},
		{"source.kafka.on_cluster_change", k.OnClusterChange, []string{"stop", "restart"}},
		{"source.kafka.sasl.mechanism", k.SASL.Mechanism, append([]string{""}, saslMechanisms()...)},
		{"decode.format", d.Format, []string{"json"}},
		{"decode.unknown_fields", d.UnknownFields, []string{"ignore", "reject"}},
		{"decode.numbers_in_strings", d.NumbersInStrings, []string{"reject", "accept"}},
		{"decode.duplicate_keys", d.DuplicateKeys, []string{"last", "reject"}},
		{"decode.tombstones", d.Tombstones, []string{"skip", "reject"}},
		{"sink.iceberg.catalog.type", j.Sink.Iceberg.Catalog.Type, CatalogTypes()},
		{"sink.iceberg.compression", j.Sink.Iceberg.Compression, append([]string{""}, Compressions()...)},
		{"sink.iceberg.distribution", j.Sink.Iceberg.Distribution, Distributions()},
		{"errors.policy", j.Errors.Policy, []string{"stop", "dead_letter"}},
		{"log.level", j.Log.Level, []string{"debug", "info", "warn", "error"}},
		{"log.format", j.Log.Format, []string{"text", "json"}},
	}
}

// CatalogTypes lists the values of Catalog.Type.
func CatalogTypes() []string { return []string{"rest", "sql", "hadoop"} }

// Compressions lists the values of IcebergSink.Compression besides the empty one.
func Compressions() []string { return []string{"zstd", "snappy", "gzip", "lz4_raw", "none", "auto"} }

// Distributions lists the values of IcebergSink.Distribution.
func Distributions() []string { return []string{"auto", "hash", "none"} }

func saslMechanisms() []string {
	return []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"}
}

func (c *checker) choice(o choice) {
	if slices.Contains(o.allowed, o.value) {
		return
	}
	words := slices.DeleteFunc(slices.Clone(o.allowed), func(s string) bool { return s == "" })
	do := "use " + oneOf(words)
	if o.value == "" {
		c.fault(o.path, "is missing", do)
		return
	}
	if near := nearest(o.value, words); near != "" && len(words) > 1 {
		do = "did you mean " + near + "? It takes " + oneOf(words)
	}
	c.fault(o.path, strconv.Quote(o.value)+" is not known", do)
}

// oneOf lists words as in "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
