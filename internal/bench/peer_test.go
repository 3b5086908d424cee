package bench

import (
	"encoding/xml"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeersAreWhole: what they name is in the program, their poms say versions that their descriptions say too.
func TestPeersAreWhole(t *testing.T) {
	for _, p := range allPeers() {
		for _, source := range []string{p.main + ".java", "CreateTable.java", "Starter.java"} {
			if _, err := peerSources.ReadFile("peers/" + source); err != nil {
				t.Errorf("%s: %v", p.id, err)
			}
		}
		for _, name := range append([]string{p.table}, p.poms...) {
			text, err := peerSources.ReadFile("peers/" + name + ".pom.xml")
			if err != nil {
				t.Errorf("%s: %v", p.id, err)
				continue
			}
			var pom struct {
				Properties struct {
					Flink   string `xml:"flink.version"`
					Kafka   string `xml:"kafka.version"`
					Spark   string `xml:"spark.version"`
					Iceberg string `xml:"iceberg.version"`
				} `xml:"properties"`
				Dependencies []struct {
					Version string `xml:"version"`
				} `xml:"dependencies>dependency"`
			}
			if err := xml.Unmarshal(text, &pom); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			v := pom.Properties
			for _, version := range []string{v.Flink, v.Kafka, v.Spark, v.Iceberg} {
				if !strings.Contains(p.about, version) {
					t.Errorf("%s has version %s, and says %q", p.id, version, p.about)
				}
			}
			for _, d := range pom.Dependencies {
				if d.Version == "" {
					t.Errorf("%s: a dependency without a version", name)
				}
			}
		}
	}
}

func TestChoosePeers(t *testing.T) {
	for _, c := range []struct {
		rivals, brokers []string
		want            string
	}{
		{nil, []string{"a:1"}, ""},
		{[]string{"auto"}, []string{"a:1"}, "flink connect spark"},
		{[]string{"spark", "flink"}, []string{"a:1"}, "flink spark"},
		{[]string{"auto"}, nil, ""}, // needs a real Kafka
	} {
		peers, err := choosePeers(Options{Rivals: c.rivals, Brokers: c.brokers})
		var ids []string
		for _, p := range peers {
			ids = append(ids, p.id)
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%v of %v: %q, %v", c.rivals, c.brokers, got, err)
		}
	}
	if err := CheckRivals([]string{"flink", "beam"}); err == nil || !strings.Contains(err.Error(), `no rival "beam"`) {
		t.Errorf("error %v", err)
	}
}

// TestConnectSettings: the run's own topic, table and folder are in them.
func TestConnectSettings(t *testing.T) {
	p := connectPeer()
	p.jars = map[string]string{"connect-plugin": "/jars"}
	r := &peerRun{
		jobConfig: jobConfig{broker: &broker{addresses: []string{"a:1", "b:2"}, topic: "messages"}, folder: "/run"},
		peer:      p, group: "mine",
	}
	for _, part := range []string{"topics=messages\n", "iceberg.control.topic=mine-control\n", "interval-ms=10000\n",
		"iceberg.kafka.bootstrap.servers=a:1,b:2\n",
		"warehouse=file:///run/warehouse\n"} {
		if !strings.Contains(r.connectSink(), part) {
			t.Errorf("the sink has no %q", part)
		}
	}
	for _, part := range []string{"bootstrap.servers=a:1,b:2\n", "plugin.path=/jars\n"} {
		if !strings.Contains(r.connectWorker(), part) {
			t.Errorf("the worker has no %q", part)
		}
	}
}

func TestPeerCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/cache")
	if got, err := peerCache(); err != nil || got != filepath.Join("/cache", "firn-components") {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "/home/a")
	if got, err := peerCache(); err != nil || got != "/home/a/.cache/firn-components" {
		t.Errorf("%s, %v", got, err)
	}
}
