package table

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"firn/internal/record"

	"github.com/google/uuid"
)

// opened is a catalog of a fresh, empty warehouse, as a conformance test gets it. Each call of again opens the same
// catalog as another process would.
type opened struct {
	again func(t *testing.T) *Catalog
	ident string // of a table that does not exist yet
	local bool   // the warehouse is a folder of this machine
}

func openCatalog(t *testing.T, config CatalogConfig) *Catalog {
	t.Helper()
	c, err := OpenCatalog(t.Context(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// sqlConfig is a SQLite catalog in a folder of its own.
func sqlConfig(t *testing.T) CatalogConfig {
	dir := t.TempDir()
	return CatalogConfig{
		Name: "test", Type: "sql", URI: filepath.Join(dir, "catalog", "db.sqlite"),
		Warehouse: filepath.Join(dir, "warehouse"),
	}
}

// everyCatalog runs a conformance test on each kind of catalog, and on the servers of others that the environment
// names.
func everyCatalog(t *testing.T, test func(t *testing.T, o opened)) {
	same := func(config CatalogConfig) func(*testing.T) *Catalog {
		return func(t *testing.T) *Catalog { return openCatalog(t, config) }
	}
	t.Run("sql", func(t *testing.T) {
		test(t, opened{same(sqlConfig(t)), "db.events", true})
	})
	t.Run("hadoop", func(t *testing.T) {
		config := CatalogConfig{Type: "hadoop", Warehouse: filepath.Join(t.TempDir(), "warehouse")}
		test(t, opened{same(config), "db.events", true})
	})
	t.Run("hadoop on S3", func(t *testing.T) {
		_, config := serveS3(t)
		test(t, opened{same(config), "db.events", false})
	})
	t.Run("hadoop on S3 server", func(t *testing.T) {
		test(t, opened{same(realS3(t)), "db.events", false})
	})
	t.Run("hadoop on GCS server", func(t *testing.T) {
		test(t, opened{same(realGCS(t)), "db.events", false})
	})
	t.Run("rest", func(t *testing.T) {
		test(t, opened{same(restConfig(serveREST(t))), restIdent(), true})
	})
	t.Run("rest server", func(t *testing.T) {
		test(t, opened{same(restConfig(realREST(t))), restIdent(), false})
	})
}

// realREST is the URL of a catalog that runs outside the test.
func realREST(t *testing.T) string {
	url := os.Getenv("FIRN_TEST_REST_URL")
	if url == "" {
		t.Skip("FIRN_TEST_REST_URL is not set: it names a running Iceberg REST catalog")
	}
	return url
}

func restConfig(url string) CatalogConfig { return CatalogConfig{Name: "test", Type: "rest", URI: url} }

// restIdent is a table in a namespace of its own, since the catalog may outlive the test.
func restIdent() string { return "t" + uuid.NewString()[:8] + ".events" }

// eventSchema is the schema of the tables in tests.
func eventSchema() *record.Schema {
	return &record.Schema{Fields: []record.Field{
		{Name: "id", Required: true, Type: record.Type{Kind: record.KindLong}},
		{Name: "name", Type: record.Type{Kind: record.KindString}},
		{Name: "at", Type: record.Type{Kind: record.KindTimestampTZ}},
	}}
}

func createTable(t *testing.T, c *Catalog, ident string) *Table {
	t.Helper()
	table, err := c.Create(t.Context(), ident, CreateConfig{Schema: eventSchema()})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// startTable makes a table with the floor of the topic at 0.
func startTable(t *testing.T, c *Catalog, ident string) *Table {
	t.Helper()
	table := createTable(t, c, ident)
	begin(t, committer(t, c, ident))
	return table
}

func committer(t *testing.T, c *Catalog, ident string) *Committer {
	t.Helper()
	k, err := NewCommitter(c, ident, "job", CommitterOptions{Fold: fold})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var (
	source     = record.Identity{ClusterID: "cluster", TopicID: "topic-1"}
	partition0 = record.TopicPartition{Topic: "events", Partition: 0}
)

// flush is a Sealed of one partition of the topic, with one file of as many rows. No file is written: commits only
// describe it.
func flush(t *Table, from, to int64) record.Sealed {
	return flushOf(t, partition0, from, to)
}

func flushOf(t *Table, tp record.TopicPartition, from, to int64) record.Sealed {
	id := uuid.NewString()
	return record.Sealed{
		ID:     id,
		Ranges: []record.Range{{TopicPartition: tp, From: from, To: to}},
		Topics: []record.TopicMark{{Topic: tp.Topic, Identity: source}},
		Counts: record.Counts{Rows: to - from},
		Files: []record.DataFile{{
			Path: fmt.Sprintf("%s/data/%s.parquet", t.Location(), id), SpecID: t.SpecID(), SchemaID: t.SchemaID(),
			Rows: to - from, SizeBytes: 100 * (to - from),
		}},
	}
}

// floorAt is the floor of one partition of the topic.
func floorAt(next int64) record.Floor {
	return record.Floor{"events": {Identity: source, Next: map[int32]int64{0: next}}}
}

// fold is the protocol's rule, plainly: a Sealed continues the floor when each of its ranges starts there.
func fold(floor record.Floor, sealed []record.Sealed) (record.Floor, []int) {
	next := floor.Clone()
	var accepted []int
	for i, s := range sealed {
		fits := func(r record.Range) bool {
			n, ok := next.Next(r.TopicPartition)
			return ok && n == r.From && slices.ContainsFunc(s.Topics, func(m record.TopicMark) bool {
				return m.Topic == r.Topic && m.Identity == next[r.Topic].Identity
			})
		}
		if slices.ContainsFunc(s.Ranges, func(r record.Range) bool { return !fits(r) }) {
			continue
		}
		accepted = append(accepted, i)
		for _, r := range s.Ranges {
			next[r.Topic].Next[r.Partition] = r.To
		}
	}
	return next, accepted
}

// begin sets the floor of the topic to 0, as a job does before it reads.
func begin(t *testing.T, k *Committer) {
	t.Helper()
	setFloor(t, k, floorAt(0))
}

func setFloor(t *testing.T, k *Committer, floor record.Floor) {
	t.Helper()
	_, err := k.SetFloor(t.Context(), func(record.Floor) (record.Floor, error) { return floor, nil })
	if err != nil {
		t.Fatal(err)
	}
}

func commit(t *testing.T, k *Committer, sealed ...record.Sealed) Outcome {
	t.Helper()
	out, err := k.Commit(t.Context(), sealed)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out.Committed)
	slices.Sort(out.Rejected)
	return out
}

func floorOf(t *testing.T, k *Committer) record.Floor {
	t.Helper()
	f, err := k.Floor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// liveFiles is the rows of the table's live data files by path, read from its manifests.
func liveFiles(t *testing.T, c *Catalog, ident string) map[string]int64 {
	t.Helper()
	table, err := c.Load(t.Context(), ident)
	if err != nil {
		t.Fatal(err)
	}
	live := make(map[string]int64)
	for _, f := range dataFiles(t, table) {
		if _, twice := live[f.FilePath()]; twice {
			t.Errorf("data file %s is in the table twice", f.FilePath())
		}
		live[f.FilePath()] = f.Count()
	}
	return live
}

// rows is the sum of the rows of the live data files.
func rows(t *testing.T, c *Catalog, ident string) int64 {
	t.Helper()
	var sum int64
	for _, n := range liveFiles(t, c, ident) {
		sum += n
	}
	return sum
}

func ids(sealed ...record.Sealed) []string {
	out := make([]string, len(sealed))
	for i, s := range sealed {
		out[i] = s.ID
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
