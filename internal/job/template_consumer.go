package job

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// consumer gathers the keys of a Kafka consumer's configuration whose meaning hangs on each other.
type consumer struct {
	b        *build
	protocol string
	sasl     bool
	ssl      bool
	types    map[string]string // ssl.truststore.type and ssl.keystore.type
}

func consumerKey(name string) string { return "consumerConfigUpdates." + name }

// applyConsumerConfig maps the keys that have a counterpart (https://kafka.apache.org/documentation/#consumerconfigs).
func applyConsumerConfig(b *build, value string) {
	c := &consumer{b: b, protocol: "PLAINTEXT", types: map[string]string{}}
	for _, p := range b.pairs("consumerConfigUpdates", value) {
		switch {
		case strings.HasPrefix(p.name, "ssl."):
			c.ssl = true
			c.sslKey(p.name, p.value)
		case strings.HasPrefix(p.name, "sasl."):
			c.sasl = true
			c.saslKey(p.name, p.value)
		default:
			c.readKey(p.name, p.value)
		}
	}
	c.finish()
}

func (c *consumer) readKey(name, value string) {
	k := &c.b.job.Source.Kafka
	switch name {
	case "group.id":
		k.Group = value
	case "auto.offset.reset":
		k.Start = value
	case "isolation.level":
		k.Isolation = value
	case "security.protocol":
		c.protocol = strings.ToUpper(value)
	case "metadata.max.age.ms":
		if n, ok := c.number(name, value); ok {
			k.MetadataInterval = time.Duration(n) * time.Millisecond
		}
	case "fetch.max.bytes":
		if n, ok := c.number(name, value); ok {
			k.FetchBytesMax = ByteSize(n)
		}
	case "enable.auto.commit", "auto.commit.interval.ms":
		c.b.ignore(consumerKey(name), "the table itself holds the positions")
	case "key.deserializer", "value.deserializer":
		c.b.ignore(consumerKey(name), "a Java class; the parameter format says how records are read")
	case "bootstrap.servers":
		c.b.fault(consumerKey(name), "is given by bootstrapServers", "remove it")
	default:
		c.b.ignore(consumerKey(name), "firn's own Kafka client has no such setting")
	}
}

func (c *consumer) number(name, value string) (int64, bool) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		c.b.fault(consumerKey(name), fmt.Sprintf("%q is not a whole number", value), "write a number")
		return 0, false
	}
	return n, true
}

func (c *consumer) saslKey(name, value string) {
	s := &c.b.job.Source.Kafka.SASL
	switch name {
	case "sasl.mechanism":
		s.Mechanism = value
	case "sasl.jaas.config":
		c.jaas(value)
	case "sasl.login.callback.handler.class", "sasl.client.callback.handler.class", "sasl.login.class":
		c.b.fault(consumerKey(name), "Java classes cannot be loaded",
			"use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, or a job file")
	default:
		c.b.ignore(consumerKey(name), "firn's own Kafka client has no such setting")
	}
}

// jaasOption is one NAME="VALUE"; of a login module's options, with \ before a quote in the value.
var jaasOption = regexp.MustCompile(`([A-Za-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))`)

var jaasEscape = regexp.MustCompile(`\\(.)`)

// jaas takes user name and password of org.apache.kafka's PlainLoginModule and ScramLoginModule.
func (c *consumer) jaas(value string) {
	module, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	if !strings.HasSuffix(module, ".PlainLoginModule") && !strings.HasSuffix(module, ".ScramLoginModule") {
		c.b.fault(consumerKey("sasl.jaas.config"), "names a login module other than PlainLoginModule and ScramLoginModule",
			"use one of the two, or a job file")
		return
	}
	s := &c.b.job.Source.Kafka.SASL
	for _, m := range jaasOption.FindAllStringSubmatch(value, -1) {
		text := jaasEscape.ReplaceAllString(m[2]+m[3]+m[4], "$1")
		switch m[1] {
		case "username":
			s.Username = text
		case "password":
			s.Password = Secret(text)
		}
	}
}

func (c *consumer) sslKey(name, value string) {
	t := &c.b.job.Source.Kafka.TLS
	switch name {
	case "ssl.truststore.location":
		t.CAFile = value
	case "ssl.keystore.location": // PEM: one file with the key and its certificates
		t.CertFile, t.KeyFile = value, value
	case "ssl.truststore.type", "ssl.keystore.type":
		c.types[name] = strings.ToUpper(value)
	case "ssl.endpoint.identification.algorithm":
		if value == "" || strings.EqualFold(value, "none") {
			c.b.fault(consumerKey(name), "host names are always checked",
				"remove it and use certificates that name the brokers")
		}
	case "ssl.truststore.certificates", "ssl.keystore.certificate.chain", "ssl.keystore.key":
		c.b.fault(consumerKey(name), "is not supported inside the parameter",
			"put it into a PEM file and use the location")
	case "ssl.key.password", "ssl.keystore.password":
		c.b.fault(consumerKey(name), "keys with a password are not supported",
			"use a PEM file without one, readable by firn only")
	default:
		c.b.ignore(consumerKey(name), "firn's own TLS has no such setting")
	}
}

// finish checks what hangs together: a key of one kind without its protocol would be dropped by Kafka without a word.
func (c *consumer) finish() {
	t := &c.b.job.Source.Kafka.TLS
	for _, store := range []struct{ name, file string }{{"truststore", t.CAFile}, {"keystore", t.KeyFile}} {
		if store.file != "" && c.types["ssl."+store.name+".type"] != "PEM" {
			c.b.fault(consumerKey("ssl."+store.name+".location"), "only PEM files are supported",
				"convert it, and add ssl."+store.name+".type=PEM")
		}
	}
	usesSASL := c.protocol == "SASL_PLAINTEXT" || c.protocol == "SASL_SSL"
	usesTLS := c.protocol == "SSL" || c.protocol == "SASL_SSL"
	t.Enabled = usesTLS
	at := consumerKey("security.protocol")
	switch {
	case !usesSASL && !usesTLS && c.protocol != "PLAINTEXT":
		c.b.fault(at, fmt.Sprintf("%q is not known", c.protocol), "use PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL")
	case c.sasl && !usesSASL:
		c.b.fault(at, "sasl.* has no effect with "+c.protocol, "use SASL_SSL or SASL_PLAINTEXT")
	case c.ssl && !usesTLS:
		c.b.fault(at, "ssl.* has no effect with "+c.protocol, "use SSL or SASL_SSL")
	case usesSASL && c.b.job.Source.Kafka.SASL.Mechanism == "":
		c.b.fault(consumerKey("sasl.mechanism"), "is missing", c.protocol+" needs one: "+oneOf(saslMechanisms()))
	}
}
