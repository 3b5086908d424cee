package job

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

func (c *checker) kafkaSource() {
	k := &c.job.Source.Kafka
	c.brokers(k.Brokers)
	c.topics(k.Topics)
	c.start(k.Start)
	c.tls(&k.TLS)
	c.sasl(&k.SASL)
	if len(k.Group) > groupBytesMax {
		c.fault("source.kafka.group", fmt.Sprintf("has %d characters", len(k.Group)),
			"use "+strconv.Itoa(groupBytesMax)+" or less")
	}
}

func (c *checker) brokers(brokers []string) {
	if len(brokers) == 0 {
		c.fault("source.kafka.brokers", "is missing", "list at least one broker, such as [localhost:9092]")
	}
	seen := map[string]bool{}
	for i, broker := range brokers {
		path := fmt.Sprintf("source.kafka.brokers[%d]", i)
		c.hostPort(path, broker, false)
		c.once(path, broker, seen)
	}
}

func (c *checker) topics(topics []string) {
	if len(topics) == 0 {
		c.fault("source.kafka.topics", "is missing", "list at least one topic, such as [orders]")
	}
	seen := map[string]bool{}
	for i, topic := range topics {
		path := fmt.Sprintf("source.kafka.topics[%d]", i)
		c.topic(path, topic)
		c.once(path, topic, seen)
	}
}

// once refuses a list item that stands there twice.
func (c *checker) once(path, item string, seen map[string]bool) {
	if seen[item] {
		c.fault(path, fmt.Sprintf("%q is listed twice", item), "remove one of the two")
	}
	seen[item] = true
}

// topicPattern and topicBytesMax are the broker's own rule (org.apache.kafka.common.internals.Topic).
var topicPattern = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

const topicBytesMax = 249

func (c *checker) topic(path, topic string) {
	switch {
	case topic == "." || topic == ".." || !topicPattern.MatchString(topic):
		c.fault(path, fmt.Sprintf("%q is not a topic name", topic), "use letters, digits, ., _ and -")
	case len(topic) > topicBytesMax:
		c.fault(path, fmt.Sprintf("has %d characters", len(topic)), fmt.Sprintf("use %d or less", topicBytesMax))
	}
}

func (c *checker) start(start string) {
	if start == "earliest" || start == "latest" {
		return
	}
	if _, err := time.Parse(time.RFC3339, start); err != nil {
		c.fault("source.kafka.start", fmt.Sprintf("%q is neither a word that is known nor a time", start),
			"use earliest, latest or a time such as 2026-01-31T08:00:00Z")
	}
}

func (c *checker) tls(t *TLS) {
	if t.CertFile != "" && t.KeyFile == "" {
		c.fault("source.kafka.tls.cert_file", "is set without key_file", "set key_file too; one file may hold both")
	}
	if t.KeyFile != "" && t.CertFile == "" {
		c.fault("source.kafka.tls.key_file", "is set without cert_file", "set cert_file too; one file may hold both")
	}
}

func (c *checker) sasl(s *SASL) {
	const path = "source.kafka.sasl"
	hasPassword, hasToken := s.Password != "" || s.PasswordFile != "", s.Token != "" || s.TokenFile != ""
	switch s.Mechanism {
	case "":
		if s.Username != "" || hasPassword || hasToken {
			c.fault(path+".mechanism", "is missing", "use "+oneOf(saslMechanisms()))
		}
	case "OAUTHBEARER":
		if !hasToken {
			c.fault(path+".token", "is missing", "OAUTHBEARER needs token or token_file")
		}
		if s.Username != "" || hasPassword {
			c.fault(path, "has a username or password, which OAUTHBEARER does not use", "remove them")
		}
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
		c.need(path+".username", s.Username, s.Mechanism+" needs a username")
		if !hasPassword {
			c.fault(path+".password", "is missing", s.Mechanism+" needs password or password_file")
		}
		if hasToken {
			c.fault(path, "has a token, which "+s.Mechanism+" does not use", "remove it")
		}
	}
}
