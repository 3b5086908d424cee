package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"firn/internal/record"
)

// plan is what a look at the source says about the floor of the table.
type plan struct {
	fresh    []record.TopicPartition // never read: their start must be found and recorded
	added    []record.TopicPartition // the part of fresh that came to a topic that is read already
	restarts []restart               // topics that are not the ones that the floor names
	missing  []string                // topics of the floor that the source does not have
}

// restart is a topic of another incarnation than the floor's.
type restart struct {
	topic    string
	was, now record.Identity
}

// otherCluster tells a move to another cluster from a topic that was made again.
func (r restart) otherCluster() bool { return r.was.ClusterID != r.now.ClusterID }

// newPlan compares the splits with the floor.
func newPlan(floor record.Floor, splits []record.Split) plan {
	var p plan
	there := map[string]record.Identity{}
	for _, s := range splits {
		if _, seen := there[s.Topic]; !seen {
			there[s.Topic] = s.Identity
			if at, known := floor[s.Topic]; known && at.Identity != s.Identity {
				p.restarts = append(p.restarts, restart{s.Topic, at.Identity, s.Identity})
			}
		}
		_, read := floor.Next(s.TopicPartition)
		at, known := floor[s.Topic]
		if read && at.Identity == s.Identity {
			continue
		}
		p.fresh = append(p.fresh, s.TopicPartition)
		if known && at.ClusterID == s.ClusterID {
			p.added = append(p.added, s.TopicPartition)
		}
	}
	for topic := range floor {
		if _, ok := there[topic]; !ok {
			p.missing = append(p.missing, topic)
		}
	}
	slices.Sort(p.missing)
	slices.SortFunc(p.restarts, func(a, b restart) int { return cmp.Compare(a.topic, b.topic) })
	return p
}

// refused is the error for restarts that the job's policy does not allow, or nil.
func (p plan) refused(c *Config) error {
	for _, r := range p.restarts {
		if r.otherCluster() && !c.RestartCluster {
			return fmt.Errorf("topic %s: the table was filled from Kafka cluster %s and the brokers are cluster %s, whose "+
				"offsets mean other records; set source.kafka.on_cluster_change to restart to read it from the job's start "+
				"setting, or point brokers at the first cluster", r.topic, r.was.ClusterID, r.now.ClusterID)
		}
		if !r.otherCluster() && !c.RestartRecreated {
			return fmt.Errorf("topic %s was deleted and made again: the table was filled from topic id %s, it has id %s now; "+
				"set source.kafka.on_recreated to restart to read the new one", r.topic, r.was.TopicID, r.now.TopicID)
		}
	}
	return nil
}

// earliest is the first offset that the splits still have of the topic partitions.
func earliest(splits []record.Split, tps []record.TopicPartition) map[record.TopicPartition]int64 {
	wanted := make(map[record.TopicPartition]bool, len(tps))
	for _, tp := range tps {
		wanted[tp] = true
	}
	starts := make(map[record.TopicPartition]int64, len(tps))
	for _, s := range splits {
		if wanted[s.TopicPartition] {
			starts[s.TopicPartition] = s.Earliest
		}
	}
	return starts
}

// withStarts is the floor with the starts of fresh topic partitions added; a topic of another incarnation begins anew.
func withStarts(floor record.Floor, splits []record.Split, starts map[record.TopicPartition]int64) record.Floor {
	next := floor.Clone()
	for _, s := range splits {
		start, ok := starts[s.TopicPartition]
		if !ok {
			continue
		}
		if at, known := next[s.Topic]; !known || at.Identity != s.Identity {
			next[s.Topic] = record.TopicFloor{Identity: s.Identity, Next: map[int32]int64{}}
		}
		next[s.Topic].Next[s.Partition] = start
	}
	return next
}

// positions is where to read the splits, by the floor. Splits without a floor are left out.
func positions(floor record.Floor, splits []record.Split) map[record.TopicPartition]int64 {
	from := make(map[record.TopicPartition]int64, len(splits))
	for _, s := range splits {
		if next, ok := floor.Next(s.TopicPartition); ok {
			from[s.TopicPartition] = next
		}
	}
	return from
}
