package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// kafkaToIcebergYAML is Kafka_To_Iceberg_Yaml of GoogleCloudPlatform/DataflowTemplates: its parameters and defaults.
func kafkaToIcebergYAML() template {
	return template{
		name:  "Kafka_To_Iceberg_Yaml",
		begin: beginKafkaToIceberg,
		parameters: append([]parameter{
			{name: "bootstrapServers", required: true, homes: []string{"source.kafka.brokers"}, apply: applyServers},
			{name: "topic", required: true, homes: []string{"source.kafka.topics"}, apply: applyTopic},
			{name: "table", required: true, homes: []string{"sink.iceberg.table", "name"}, apply: applyTable},
			{name: "jobName", homes: []string{"name"}, apply: func(b *build, v string) { b.job.Name = v }},
			{name: "catalogName", required: true, homes: []string{"sink.iceberg.catalog.name"}, apply: applyCatalogName},
			{name: "catalogProperties", required: true, homes: []string{"sink.iceberg.catalog"}, apply: applyCatalog},
			{name: "configProperties", apply: applyHadoopConfig},
			{name: "triggeringFrequencySeconds", required: true,
				homes: []string{"sink.iceberg.commit_interval", "sink.iceberg.commit_timeout"}, apply: applyFrequency},
			{name: "format", homes: []string{"decode.format"}, apply: applyFormat},
			{name: "schema", homes: []string{"decode.schema"}, apply: applySchema},
			{name: "consumerConfigUpdates", homes: []string{"source.kafka", "limits.memory"}, apply: applyConsumerConfig},
			{name: "drop", homes: []string{"decode.drop"}, apply: applyDrop},
			{name: "keep", homes: []string{"decode.keep"}, apply: applyKeep},
			{name: "only", apply: unsupported("only", "name the columns to write with keep, or write a schema")},
			{name: "partitionFields", homes: []string{"sink.iceberg.partition"}, apply: applyPartition},
			{name: "distributionMode", homes: []string{"sink.iceberg.distribution"}, apply: applyDistributionMode},
			{name: "autosharding", homes: []string{"sink.iceberg.distribution"}, apply: applyAutosharding},
			{name: "tableProperties", homes: []string{"sink.iceberg.properties"}, apply: applyTableProperties},
		}, withoutEffect()...),
	}
}

// withoutEffect are the parameters of the template that say how Beam or Dataflow does the work, and those of formats
// that applyFormat refuses.
func withoutEffect() []parameter {
	const redistribution = "firn spreads partitions over its workers without redistributing records"
	const checkpoints = "a service option of Dataflow; firn commits every triggeringFrequencySeconds"
	const registry = "put the schema itself into the parameter schema"
	parameters := []parameter{
		{name: "allowDuplicates", apply: ignoredIf("allowDuplicates", true, "firn writes each record once in any case")},
		{name: "confluentSchemaRegistryUrl", apply: unsupported("confluentSchemaRegistryUrl", registry)},
		{name: "confluentSchemaRegistrySubject", apply: unsupported("confluentSchemaRegistrySubject", registry)},
		{name: "offsetDeduplication", apply: ignoredIf("offsetDeduplication", true,
			"firn writes each offset once in any case")},
		{name: "filter", apply: ignored("filter", "a read option that the template does not use")},
	}
	for _, p := range []pair{
		{"redistributed", redistribution},
		{"redistributeByRecordKey", redistribution},
		{"redistributeNumKeys", redistribution},
		{"sdfCheckpointAfterDuration", checkpoints},
		{"sdfCheckpointAfterOutputBytes", checkpoints},
		{"fileDescriptorPath", "used with format PROTO only"},
		{"messageName", "used with format PROTO only"},
	} {
		parameters = append(parameters, parameter{name: p.name, apply: ignored(p.name, p.value)})
	}
	return parameters
}

func beginKafkaToIceberg(b *build) {
	b.job.Kind = KindKafkaToIceberg
	b.job.Source.Kafka.Start = "earliest" // fixed in the template, whatever the default of firn
}

func applyServers(b *build, value string) {
	for server := range strings.SplitSeq(value, ",") {
		b.job.Source.Kafka.Brokers = append(b.job.Source.Kafka.Brokers, strings.TrimSpace(server))
	}
}

func applyTopic(b *build, value string) { b.job.Source.Kafka.Topics = []string{value} }

func applyCatalogName(b *build, value string) { b.job.Sink.Iceberg.Catalog.Name = value }

// applyTable also names the job after the table: the name must be the same at each start, or the job would begin anew.
func applyTable(b *build, value string) {
	b.job.Sink.Iceberg.Table = value
	b.job.Name = nameFrom(value)
}

// nameFrom makes a job name of a table: sales.orders gives sales-orders.
func nameFrom(table string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, table)
	name = strings.TrimLeft(name, "-_")
	return name[:min(len(name), nameBytesMax)]
}

// commitTimeoutFactor keeps the timeout clear of the interval when the template asks for rare snapshots.
const commitTimeoutFactor = 2

func applyFrequency(b *build, value string) {
	seconds, err := strconv.ParseInt(value, 10, 32)
	if err != nil || seconds < 1 {
		b.fault("triggeringFrequencySeconds", fmt.Sprintf("%q is not a number of seconds", value),
			"write a whole number of 1 or more")
		return
	}
	s := &b.job.Sink.Iceberg
	s.CommitInterval = time.Duration(seconds) * time.Second
	s.CommitTimeout = max(s.CommitTimeout, commitTimeoutFactor*s.CommitInterval)
}

func applyFormat(b *build, value string) {
	switch strings.ToUpper(value) {
	case "JSON":
		b.job.Decode.Format = "json"
	case "AVRO", "PROTO", "RAW", "STRING":
		b.fault("format", value+" is not supported yet", "use JSON")
	default:
		b.fault("format", fmt.Sprintf("%q is not known", value), "use JSON")
	}
}

func applyDrop(b *build, value string) { b.job.Decode.Drop = b.texts("drop", value) }

func applyKeep(b *build, value string) { b.job.Decode.Keep = b.texts("keep", value) }

func applyPartition(b *build, value string) {
	b.job.Sink.Iceberg.Partition = b.texts("partitionFields", value)
}

func applyTableProperties(b *build, value string) {
	properties := map[string]string{}
	for _, p := range b.pairs("tableProperties", value) {
		properties[p.name] = p.value
	}
	b.job.Sink.Iceberg.Properties = properties
}
