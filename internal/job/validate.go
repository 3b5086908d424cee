package job

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
)

// checker gathers what is wrong with a complete job. It knows paths, not lines.
type checker struct {
	job    *Job
	faults Faults
}

// Validate checks the whole job and gives every fault at once, as Faults without file and lines: Parse and FromTemplate
// add those. It reads no file and reaches no network.
func (j *Job) Validate() error {
	c := &checker{job: j}
	c.name()
	for _, o := range j.choices() {
		c.choice(o)
	}
	for _, b := range j.bounds() {
		c.bound(b)
	}
	c.kafkaSource()
	c.decode()
	c.icebergSink()
	c.deadLetter()
	c.listen()
	return c.faults.err()
}

func (c *checker) fault(path, what, do string) {
	c.faults = append(c.faults, Fault{Path: path, What: what, Do: do})
}

func (c *checker) need(path, value, do string) bool {
	if value == "" {
		c.fault(path, "is missing", do)
	}
	return value != ""
}

// namePattern is what a job may be called: its name becomes a part of the consumer group and of table properties.
var namePattern = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]*$`)

const (
	nameBytesMax  = 128
	groupBytesMax = 255 // group.id is a Kafka STRING; brokers name __consumer_offsets keys by it
)

func (c *checker) name() {
	name := c.job.Name
	if !c.need("name", name, "give the job a name that stays, such as orders-to-lake") {
		return
	}
	if !namePattern.MatchString(name) {
		c.fault("name", fmt.Sprintf("%q is not a job name", name), "use letters, digits, - and _, a letter or digit first")
	}
	if len(name) > nameBytesMax {
		c.fault("name", fmt.Sprintf("has %d characters", len(name)), fmt.Sprintf("use %d or less", nameBytesMax))
	}
}

func (c *checker) deadLetter() {
	e := &c.job.Errors
	topic, file := e.DeadLetter.Topic, e.DeadLetter.File
	switch {
	case e.Policy == "dead_letter" && topic == "" && file == "":
		c.fault("errors.dead_letter", "is missing", "set topic or file below it, or policy: stop")
	case e.Policy == "dead_letter" && topic != "" && file != "":
		c.fault("errors.dead_letter.file", "is set beside topic", "keep one of the two")
	case e.Policy == "stop" && (topic != "" || file != ""):
		c.fault("errors.dead_letter", "has no effect with policy stop", "set policy: dead_letter, or remove it")
	}
	if topic == "" {
		return
	}
	c.topic("errors.dead_letter.topic", topic)
	for _, source := range c.job.Source.Kafka.Topics {
		if source == topic {
			c.fault("errors.dead_letter.topic", fmt.Sprintf("%q is read by this job", topic),
				"use another topic: rejected records would be read and rejected again")
		}
	}
}

func (c *checker) listen() {
	if listen := c.job.Web.Listen; listen != "" {
		c.hostPort("web.listen", listen, true)
	}
}

// hostPort checks HOST:PORT; a server may leave out the host and may listen on port 0, any free one.
func (c *checker) hostPort(path, address string, server bool) {
	if _, after, schemed := strings.Cut(address, "://"); schemed {
		c.fault(path, fmt.Sprintf("%q has a scheme", address), "write "+after)
		return
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		c.fault(path, fmt.Sprintf("%q is not HOST:PORT", address), hostPortDo(address, server))
		return
	}
	if (host == "" && !server) || strings.ContainsAny(host, " \t/,") {
		c.fault(path, fmt.Sprintf("%q has no valid host", address), hostPortDo("", server))
	}
	if n, err := strconv.Atoi(port); err != nil || n > 65535 || n < 0 || (n == 0 && !server) {
		c.fault(path, fmt.Sprintf("%q has no valid port", address), "use a port from 1 to 65535")
	}
}

func hostPortDo(host string, server bool) string {
	if server {
		return "write 127.0.0.1:9464 for this machine only, :9464 for all addresses"
	}
	if host == "" || strings.ContainsAny(host, ": \t/,") {
		return "write HOST:PORT, such as broker-1:9092 or [::1]:9092, one a list item"
	}
	return "add the port, such as " + host + ":9092"
}
