package job

import "time"

// Job is a job file. The zero value of a setting never means "unset": Default fills every setting first, and the
// file is decoded over it.
type Job struct {
	// Name identifies the job for good: the table's floor and the consumer group hang on it.
	Name   string `yaml:"name"`
	Kind   string `yaml:"kind"` // see Kinds
	Source Source `yaml:"source"`
	Decode Decode `yaml:"decode"`
	Sink   Sink   `yaml:"sink"`
	Errors Errors `yaml:"errors"`
	Limits Limits `yaml:"limits"`
	Web    Web    `yaml:"web"`
	Log    Log    `yaml:"log"`

	// Ignored lists the template parameters that were accepted but have no effect here; empty for a job file.
	Ignored []Ignored `yaml:"-"`
}

// KindKafkaToIceberg reads Kafka topics into an Iceberg table.
const KindKafkaToIceberg = "kafka-to-iceberg"

// Kinds lists the values of Job.Kind.
func Kinds() []string { return []string{KindKafkaToIceberg} }

// Ignored is a template parameter, or one key of a map parameter such as consumerConfigUpdates.enable.auto.commit, that
// is accepted for the template's sake and changes nothing, with the reason for it.
type Ignored struct {
	Parameter string
	Reason    string
}

// Source says where records come from.
type Source struct {
	Kafka KafkaSource `yaml:"kafka"`
}

// Kafka is a connection to a Kafka cluster.
type Kafka struct {
	Brokers []string `yaml:"brokers"` // host:port
	TLS     TLS      `yaml:"tls"`
	SASL    SASL     `yaml:"sasl"`
}

// TLS is how a connection is encrypted. Enabled is implied by any other setting.
type TLS struct {
	Enabled            bool   `yaml:"enabled"`
	CAFile             string `yaml:"ca_file"`
	CertFile           string `yaml:"cert_file"` // with key_file: mutual TLS
	KeyFile            string `yaml:"key_file"`
	ServerName         string `yaml:"server_name"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify"`
}

// SASL is how a client proves who it is. Mechanism is empty for none, or PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or
// OAUTHBEARER. Secrets may be written ${ENV} or read from a file.
type SASL struct {
	Mechanism    string `yaml:"mechanism"`
	Username     string `yaml:"username"`
	Password     Secret `yaml:"password"`
	PasswordFile string `yaml:"password_file"`
	Token        Secret `yaml:"token"` // OAUTHBEARER
	TokenFile    string `yaml:"token_file"`
}

// KafkaSource reads topics.
type KafkaSource struct {
	Kafka            `yaml:",inline"`
	Topics           []string      `yaml:"topics"`
	Group            string        `yaml:"group"`             // shows offsets after each commit; default firn-NAME
	Start            string        `yaml:"start"`             // earliest, latest or RFC 3339; for partitions never read
	Isolation        string        `yaml:"isolation"`         // read_committed or read_uncommitted
	OnGap            string        `yaml:"on_gap"`            // continue or stop: records removed before they were read
	OnRecreated      string        `yaml:"on_recreated"`      // restart or stop: the topic was deleted and made again
	OnClusterChange  string        `yaml:"on_cluster_change"` // stop or restart: not the cluster that the floor names
	MetadataInterval time.Duration `yaml:"metadata_interval"` // how often new topics and partitions are looked for
	FetchBytesMax    ByteSize      `yaml:"fetch_bytes_max"`   // of one fetch from one broker
}

// Decode says how a record value becomes a row.
type Decode struct {
	Format           string `yaml:"format"` // json
	Schema           Schema `yaml:"schema"`
	UnknownFields    string `yaml:"unknown_fields"`     // ignore or reject: keys that the schema does not have
	NumbersInStrings string `yaml:"numbers_in_strings"` // reject or accept: "12" for a numeric column
	DuplicateKeys    string `yaml:"duplicate_keys"`     // last or reject
	Tombstones       string `yaml:"tombstones"`         // skip or reject: records with a null value
	DepthMax         int    `yaml:"depth_max"`          // nesting of a message

	// Keep and Drop narrow the schema's top-level columns, at most one of the two; see Columns.
	Keep []string `yaml:"keep"`
	Drop []string `yaml:"drop"`
}

// Schema is the target columns: at most one of the three; none means the table's own.
type Schema struct {
	Avro     string        `yaml:"avro"`      // an Avro record schema, as JSON text
	AvroFile string        `yaml:"avro_file"` // the same in a file, relative to the job file
	Fields   []SchemaField `yaml:"fields"`    // Iceberg fields
}

// SchemaField is one Iceberg field. Type is Iceberg's text form, nested types included: long, decimal(9,2),
// list<string>, map<string, long>, struct<a: int, b: string>; a struct's field that must be set is "a: required int".
type SchemaField struct {
	Name     string `yaml:"name"`
	Type     string `yaml:"type"`
	Required bool   `yaml:"required"`
	Doc      string `yaml:"doc"`
}

// Sink says where rows become visible.
type Sink struct {
	Iceberg IcebergSink `yaml:"iceberg"`
}

// IcebergSink appends to one Iceberg table.
type IcebergSink struct {
	Catalog        Catalog           `yaml:"catalog"`
	Table          string            `yaml:"table"`      // namespace.table
	Create         bool              `yaml:"create"`     // make namespace and table when missing
	Partition      []string          `yaml:"partition"`  // for a new table; see PartitionField
	Properties     map[string]string `yaml:"properties"` // for a new table
	Location       string            `yaml:"location"`   // for a new table; default: the catalog's choice
	CommitInterval time.Duration     `yaml:"commit_interval"`
	CommitTimeout  time.Duration     `yaml:"commit_timeout"` // the job stops when no attempt landed for this long
	TargetFileSize ByteSize          `yaml:"target_file_size"`
	Compression    string            `yaml:"compression"`  // see Compressions; empty: the table decides
	Distribution   string            `yaml:"distribution"` // auto, hash or none: how rows of workers meet at files
	Rollup         Rollup            `yaml:"rollup"`
	Expire         Expire            `yaml:"expire"`
	Orphans        Orphans           `yaml:"orphans"`
}

// Rollup joins the small files that the job commits into files of target_file_size.
type Rollup struct {
	Enabled     bool          `yaml:"enabled"`
	MaxAge      time.Duration `yaml:"max_age"`      // after which few small files are joined too; 0: never
	SpoolFolder string        `yaml:"spool_folder"` // for small files until they are joined; default: for temporary files
	SpoolSize   ByteSize      `yaml:"spool_size"`   // 0: what memory does not hold is read from the store
}

// Expire takes old snapshots out of the table.
type Expire struct {
	Enabled     bool          `yaml:"enabled"`
	Keep        int           `yaml:"keep"`         // snapshots, the newest
	DeleteAfter time.Duration `yaml:"delete_after"` // files that only expired snapshots need are deleted then
}

// Orphans deletes the files below the table's folders that nothing refers to, such as those of a killed writer.
type Orphans struct {
	Enabled   bool          `yaml:"enabled"`
	OlderThan time.Duration `yaml:"older_than"` // by the store's clock
	Interval  time.Duration `yaml:"interval"`   // between two looks, which list all files
}

// Catalog is an Iceberg catalog.
type Catalog struct {
	Name       string            `yaml:"name"`
	Type       string            `yaml:"type"`       // rest, sql or hadoop
	URI        string            `yaml:"uri"`        // rest: URL; sql: sqlite file or URL
	Warehouse  string            `yaml:"warehouse"`  // path, file://, s3:// or gs://
	Credential Secret            `yaml:"credential"` // rest: OAuth2 client id:secret
	Token      Secret            `yaml:"token"`      // rest: bearer token
	Properties map[string]string `yaml:"properties"` // passed on: s3.endpoint, header.X, ...
}

// Errors says what becomes of records that cannot become rows.
type Errors struct {
	Policy     string     `yaml:"policy"` // stop or dead_letter
	DeadLetter DeadLetter `yaml:"dead_letter"`
}

// DeadLetter is where rejected records go: exactly one of the two.
type DeadLetter struct {
	Topic string `yaml:"topic"` // on the source's cluster
	File  string `yaml:"file"`  // JSON Lines, appended
}

// Limits bounds what the process uses.
type Limits struct {
	Workers         int           `yaml:"workers"` // 0: one a CPU
	Memory          ByteSize      `yaml:"memory"`  // of the process; see wire.DataBytes
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout"`
	ConnectTimeout  time.Duration `yaml:"connect_timeout"` // at the start, then exit code 3
}

// Web is the HTTP server for /metrics, /healthz and /readyz. An empty Listen means none.
type Web struct {
	Listen string `yaml:"listen"`
}

// Log is what is written to standard error.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn, error
	Format string `yaml:"format"` // text or json
}
