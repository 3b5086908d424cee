package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

// The packages that Flink and Spark reach into.
func flinkOpens() []string {
	return javaBase("java.lang", "java.lang.reflect", "java.lang.invoke", "java.util", "java.util.concurrent",
		"java.util.concurrent.atomic", "java.net", "java.nio", "java.io", "java.time", "java.text", "sun.net.util")
}

func sparkOpens() []string {
	return javaBase("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
		"java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs",
		"sun.security.action", "sun.util.calendar")
}

func javaBase(packages ...string) []string {
	opens := make([]string, len(packages))
	for i, p := range packages {
		opens[i] = "java.base/" + p
	}
	return opens
}

var commitSeconds = strconv.Itoa(int(commitEvery.Seconds()))

func flinkPeer() *peer {
	return &peer{
		id: "flink", name: "Flink", heap: "3g", poms: []string{"flink"}, table: "flink", opens: flinkOpens(),
		main:  "FlinkPeer",
		about: "Flink 1.20.3 SQL, Kafka connector 3.4.0, Iceberg 1.10.1, mini cluster, parallelism 2",
		arguments: func(_ context.Context, r *peerRun) ([]string, error) {
			return []string{
				r.brokers(), r.broker.topic, r.group, "file://" + r.warehouse(), r.kind.name, commitSeconds,
			}, nil
		},
	}
}

func sparkPeer() *peer {
	return &peer{
		id: "spark", name: "Spark", heap: "3g", poms: []string{"spark"}, table: "spark", opens: sparkOpens(),
		main: "SparkPeer",
		about: "Spark 4.0.0 Structured Streaming, Iceberg 1.10.1, local[2], " + strconv.Itoa(sparkBatchMB) + " MB a batch " +
			"at most",
		arguments: func(_ context.Context, r *peerRun) ([]string, error) {
			return []string{
				r.brokers(), r.broker.topic, r.folder, "file://" + r.warehouse(), r.kind.name, commitSeconds,
				strconv.FormatInt(sparkBatchMB*1e6/max(r.bytes, 1), 10),
			}, nil
		},
	}
}

// sparkBatchMB lets a batch hold about what the others commit in their interval. Without a bound the first batch would
// be the whole topic.
const sparkBatchMB = 1200

func connectPeer() *peer {
	return &peer{
		id: "connect", name: "Kafka Connect", heap: "2g", poms: []string{"connect", "connect-plugin"},
		table: "connect-plugin", main: "ConnectPeer",
		about: "Kafka Connect 4.1.2 standalone, Iceberg sink 1.10.1, 2 tasks",
		arguments: func(ctx context.Context, r *peerRun) ([]string, error) {
			worker, sink := filepath.Join(r.folder, "worker.properties"), filepath.Join(r.folder, "sink.properties")
			for path, text := range map[string]string{worker: r.connectWorker(), sink: r.connectSink()} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					return nil, fmt.Errorf("writing the settings of Kafka Connect: %w", err)
				}
			}
			return []string{worker, sink}, r.admin(func(admin *kadm.Client) error {
				if _, err := admin.CreateTopic(ctx, 1, 1, nil, r.controlTopic()); err != nil {
					return fmt.Errorf("making the control topic of Kafka Connect: %w", err)
				}
				return nil
			})
		},
	}
}

func (r *peerRun) brokers() string { return strings.Join(r.broker.addresses, ",") }

func (r *peerRun) connectWorker() string {
	return fmt.Sprintf(`bootstrap.servers=%s
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
value.converter.schemas.enable=false
offset.storage.file.filename=%s
offset.flush.interval.ms=10000
plugin.path=%s
listeners=http://127.0.0.1:0
`, r.brokers(), filepath.Join(r.folder, "offsets"), r.peer.jars["connect-plugin"])
}

func (r *peerRun) connectSink() string {
	return fmt.Sprintf(`name=%s
connector.class=org.apache.iceberg.connect.IcebergSinkConnector
tasks.max=2
topics=%s
iceberg.tables=bench.messages
iceberg.catalog.type=hadoop
iceberg.catalog.warehouse=file://%s
iceberg.kafka.bootstrap.servers=%s
iceberg.control.topic=%s
iceberg.control.commit.interval-ms=%d
iceberg.control.commit.timeout-ms=60000
consumer.override.auto.offset.reset=earliest
`, r.group, r.broker.topic, r.warehouse(), r.brokers(), r.controlTopic(), commitEvery.Milliseconds())
}
