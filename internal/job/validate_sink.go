package job

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

func (c *checker) icebergSink() {
	s := &c.job.Sink.Iceberg
	c.catalog(&s.Catalog)
	c.table(s.Table)
	c.partition(s.Partition)
	if s.Location != "" {
		c.storage("sink.iceberg.location", s.Location)
	}
	// The timeout counts from the last commit that landed: a shorter one would stop a job that is healthy.
	if s.CommitTimeout <= s.CommitInterval {
		c.fault("sink.iceberg.commit_timeout", durationText(s.CommitTimeout)+" is not longer than commit_interval, "+
			durationText(s.CommitInterval), "use "+durationText(2*s.CommitInterval)+" or more")
	}
	if k := c.job.Source.Kafka; c.job.Limits.Memory < 2*k.FetchBytesMax {
		c.fault("limits.memory", c.job.Limits.Memory.String()+" does not hold two fetches of source.kafka.fetch_bytes_max, "+
			k.FetchBytesMax.String(), "use "+(2*k.FetchBytesMax).String()+" or more, or fetch less at once")
	}
}

func (c *checker) table(table string) {
	const path, do = "sink.iceberg.table", "write NAMESPACE.TABLE, such as sales.orders"
	if !c.need(path, table, do) {
		return
	}
	parts := strings.Split(table, ".")
	bad := func(part string) bool {
		return part == "" || strings.ContainsAny(part, "/\\ \t\r\n\"'`")
	}
	if len(parts) < 2 || slices.ContainsFunc(parts, bad) {
		c.fault(path, fmt.Sprintf("%q is not a namespace and a table", table), do)
	}
}

func (c *checker) partition(fields []string) {
	seen := map[PartitionField]bool{}
	for i, text := range fields {
		path := fmt.Sprintf("sink.iceberg.partition[%d]", i)
		f, err := ParsePartitionField(text)
		switch {
		case err != nil:
			c.fault(path, fmt.Sprintf("%q is not a partition field: %v", text, err),
				"write a column, or bucket(f, N), truncate(f, W), year(f), month(f), day(f), hour(f), identity(f) or void(f)")
		case seen[f]:
			c.fault(path, fmt.Sprintf("%q is listed twice", text), "remove one of the two")
		}
		seen[f] = true
	}
}

func (c *checker) catalog(k *Catalog) {
	const path = "sink.iceberg.catalog"
	c.need(path+".name", k.Name, "remove the key for the default, or name the catalog")
	switch k.Type {
	case "rest":
		c.restCatalog(path, k)
	case "sql":
		c.sqlCatalog(path, k)
	case "hadoop":
		if k.URI != "" {
			c.fault(path+".uri", "is not used by a hadoop catalog", "remove it; warehouse is the place")
		}
		c.warehouse(path, k.Warehouse)
	}
	if k.Type == "sql" || k.Type == "hadoop" {
		c.noLogin(path, k)
	}
}

func (c *checker) restCatalog(path string, k *Catalog) {
	if k.Token != "" && k.Credential != "" {
		c.fault(path+".credential", "is set beside token", "keep one of the two")
	}
	if !c.need(path+".uri", k.URI, "write the catalog's address, such as http://localhost:8181") {
		return
	}
	u, err := url.Parse(k.URI)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		c.fault(path+".uri", "is not an http or https address", "write it as https://HOST[:PORT][/PATH]")
	}
}

// uriScheme is the scheme of a URI such as sqlite:///x or file:x; a Windows drive is not one.
var uriScheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]+):`)

func schemeOf(uri string) string {
	if m := uriScheme.FindStringSubmatch(uri); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

func (c *checker) sqlCatalog(path string, k *Catalog) {
	c.warehouse(path, k.Warehouse)
	if !c.need(path+".uri", k.URI, "name the SQLite file, such as warehouse/catalog.db") {
		return
	}
	const do = "write a path, sqlite:///RELATIVE.db or sqlite:////ABSOLUTE.db"
	s := schemeOf(k.URI)
	switch rest := strings.TrimPrefix(k.URI[len(s):], ":"); {
	case s == "sqlite" && !strings.HasPrefix(rest, "///"), s == "file" && !strings.HasPrefix(rest, "/"):
		c.fault(path+".uri", fmt.Sprintf("%q is not a SQLite file", k.URI), do)
	case s != "" && s != "sqlite" && s != "file":
		c.fault(path+".uri", fmt.Sprintf("database %q is not supported", s), "use a SQLite file, or a rest catalog")
	case strings.Trim(rest, "/") == "" || strings.Contains(rest, ":memory:"):
		c.fault(path+".uri", "names no file, so that the catalog would be lost with the process", do)
	}
}

func (c *checker) noLogin(path string, k *Catalog) {
	const do = "remove it; a rest catalog has logins"
	if k.Token != "" {
		c.fault(path+".token", "is not used by a "+k.Type+" catalog", do)
	}
	if k.Credential != "" {
		c.fault(path+".credential", "is not used by a "+k.Type+" catalog", do)
	}
}

func (c *checker) warehouse(path, warehouse string) {
	if c.need(path+".warehouse", warehouse, "write where data goes: a folder, s3://BUCKET/PATH or gs://BUCKET/PATH") {
		c.storage(path+".warehouse", warehouse)
	}
}

// storage checks a place for data: a path, file:, s3:// or gs://.
func (c *checker) storage(path, place string) {
	const do = "use a path, file:///PATH, s3://BUCKET/PATH or gs://BUCKET/PATH"
	switch scheme := schemeOf(place); scheme {
	case "", "file":
	case "s3", "gs":
		_, rest, ok := strings.Cut(place, "://")
		if bucket, _, _ := strings.Cut(rest, "/"); !ok || bucket == "" {
			c.fault(path, fmt.Sprintf("%q names no bucket", place), do)
		}
	case "s3a", "s3n":
		c.fault(path, fmt.Sprintf("scheme %q is Hadoop's name for s3", scheme), "write s3"+place[len(scheme):])
	default:
		c.fault(path, fmt.Sprintf("scheme %q is not supported", scheme), do)
	}
}
