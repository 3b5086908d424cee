package gen

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Config is what the parameters of the Dataflow template Streaming_Data_Generator ask for.
type Config struct {
	TemplateText  string
	RatePerSecond float64
	MessagesMax   int64 // 0: no limit
	Workers       int   // 0: not given
	Brokers       []string
	Topic         string
	// Ignored are parameters that were given and belong to other sinks, sorted; the caller should say so.
	Ignored []string
}

// otherSinks are parameters of the sinks that are not built here, and of the format they need.
const otherSinks = `
	avroSchemaLocation outputTableSpec writeDisposition outputDeadletterTable windowDuration
	outputDirectory outputFilenamePrefix numShards driverClassName connectionUrl username password
	connectionProperties statement projectId spannerInstanceName spannerDatabaseName spannerTableName
	maxNumMutations maxNumRows batchSizeBytes commitDeadlineSeconds`

// FromTemplateParameters reads the parameters of Streaming_Data_Generator by their own names. The error joins all
// faults that it finds.
func FromTemplateParameters(parameters map[string]string) (Config, error) {
	r := parameterReader{given: parameters}
	r.known("qps schemaTemplate schemaLocation messagesLimit outputType sinkType bootstrapServer kafkaTopic topic " +
		"maxNumWorkers")
	r.outputs()
	r.config.TemplateText = r.templateText()
	r.config.RatePerSecond = r.rate()
	r.config.MessagesMax = r.count("messagesLimit", 0)
	r.config.Workers = int(r.count("maxNumWorkers", 1))
	r.target()
	if len(r.faults) > 0 {
		return Config{}, errors.Join(r.faults...)
	}
	return r.config, nil
}

type parameterReader struct {
	given  map[string]string
	config Config
	faults []error
}

func (r *parameterReader) failf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

func (r *parameterReader) known(names string) {
	taken, others := strings.Fields(names), strings.Fields(otherSinks)
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		switch {
		case slices.Contains(taken, name):
		case slices.Contains(others, name):
			r.config.Ignored = append(r.config.Ignored, name)
		default:
			r.failf("unknown parameter %s; %s", shorten(name), suggest(name, append(taken, others...)))
		}
	}
}

func (r *parameterReader) outputs() {
	if t := r.given["outputType"]; t != "" && t != "JSON" {
		r.failf("outputType %s is not supported; leave it out or set JSON", shorten(t))
	}
	switch sink := r.given["sinkType"]; sink {
	case "KAFKA":
	case "", "PUBSUB":
		r.failf("sinkType PUBSUB, the default, is not supported; set sinkType=KAFKA, bootstrapServer and kafkaTopic")
	case "BIGQUERY", "GCS", "JDBC", "SPANNER":
		r.failf("sinkType %s is not supported; set sinkType=KAFKA, and read the topic with another job", sink)
	default:
		r.failf("unknown sinkType %s; the one that is supported is KAFKA", shorten(sink))
	}
}

// templateText prefers the location, as the original does.
func (r *parameterReader) templateText() string {
	location, name := r.given["schemaLocation"], r.given["schemaTemplate"]
	switch {
	case location != "":
		return r.readTemplate(location)
	case name == "":
		r.failf("schemaTemplate or schemaLocation is needed; the templates are %s", strings.Join(BuiltinNames(), ", "))
		return ""
	}
	text, ok := Builtin(name)
	if !ok {
		r.failf("unknown schemaTemplate %s; %s", shorten(name), suggest(name, BuiltinNames()))
	}
	return text
}

func (r *parameterReader) readTemplate(location string) string {
	path := strings.TrimPrefix(location, "file://")
	if scheme, _, ok := strings.Cut(path, "://"); ok {
		r.failf("schemaLocation %s: %s:// is not supported; copy the file to this machine and give its path",
			shorten(location), scheme)
		return ""
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > templateBytesMax {
		err = fmt.Errorf("it has %d bytes, more than the %d of the longest template", info.Size(), templateBytesMax)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		r.failf("reading schemaLocation %s: %w", shorten(location), err)
	}
	return string(text)
}

func (r *parameterReader) rate() float64 {
	text := r.given["qps"]
	if text == "" {
		r.failf("qps is needed: the messages a second")
		return 0
	}
	v, err := parseFloat64(text)
	if err != nil || v <= 0 {
		r.failf("qps %s is not a positive number; give messages a second, such as 1000", shorten(text))
	}
	return v
}

func (r *parameterReader) count(name string, least int64) int64 {
	text := r.given[name]
	if text == "" {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < least {
		r.failf("%s %s is not a whole number of at least %d", name, shorten(text), least)
	}
	return v
}

// target reads the brokers and the topic; topic, the name of the Pub/Sub topic, stands in for kafkaTopic.
func (r *parameterReader) target() {
	for server := range strings.SplitSeq(r.given["bootstrapServer"], ",") {
		if server = strings.TrimSpace(server); server != "" {
			r.config.Brokers = append(r.config.Brokers, server)
		}
	}
	if len(r.config.Brokers) == 0 {
		r.failf("bootstrapServer is needed: host:port, several with commas between")
	}
	r.config.Topic = r.given["kafkaTopic"]
	if r.config.Topic == "" {
		r.config.Topic = r.given["topic"]
	}
	switch {
	case r.config.Topic == "":
		r.failf("kafkaTopic is needed: the topic to write to")
	case strings.HasPrefix(r.config.Topic, "projects/"):
		r.failf("%s is a Pub/Sub topic; set kafkaTopic", shorten(r.config.Topic))
	}
}
