package job

import "time"

// Default is a job with every setting that has a default. What is left empty has none: it is either required, or
// optional and off. The consumer group follows from the name and is set by Parse and FromTemplate.
func Default() Job {
	return Job{
		Source: Source{Kafka: defaultKafkaSource()},
		Decode: Decode{
			Format:           "json",
			UnknownFields:    "ignore",
			NumbersInStrings: "reject",
			DuplicateKeys:    "last",
			Tombstones:       "skip",
			DepthMax:         64,
		},
		Sink:   Sink{Iceberg: defaultIcebergSink()},
		Errors: Errors{Policy: "stop"},
		Limits: Limits{
			Memory:          1 << 30,
			ShutdownTimeout: 30 * time.Second,
			ConnectTimeout:  30 * time.Second,
		},
		Log: Log{Level: "info", Format: "text"},
	}
}

func defaultKafkaSource() KafkaSource {
	return KafkaSource{
		Start:            "earliest",
		Isolation:        "read_committed",
		OnGap:            "continue",
		OnRecreated:      "restart",
		OnClusterChange:  "stop",
		MetadataInterval: 10 * time.Second,
		FetchBytesMax:    4e6,
	}
}

func defaultIcebergSink() IcebergSink {
	return IcebergSink{
		Catalog:        Catalog{Name: "default"},
		Create:         true,
		CommitInterval: time.Second,
		CommitTimeout:  10 * time.Minute,
		TargetFileSize: 256e6,
		Distribution:   "auto",
		Rollup:         Rollup{Enabled: true, MaxAge: 10 * time.Minute, SpoolSize: 4e9},
		Expire:         Expire{Enabled: true, Keep: 100, DeleteAfter: time.Hour},
		Orphans:        Orphans{OlderThan: 3 * 24 * time.Hour, Interval: 24 * time.Hour},
	}
}
