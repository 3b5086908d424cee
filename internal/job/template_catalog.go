package job

import (
	"fmt"
	"strconv"
	"strings"
)

// applyCatalog takes the properties of an Iceberg catalog as Java's CatalogUtil does.
func applyCatalog(b *build, value string) {
	k := &b.job.Sink.Iceberg.Catalog
	k.Properties = map[string]string{}
	for _, p := range b.pairs("catalogProperties", value) {
		at := "catalogProperties." + p.name
		switch p.name {
		case "type":
			k.Type = catalogType(b, p.value)
		case "uri":
			k.URI = p.value
		case "warehouse":
			k.Warehouse = p.value
		case "token":
			k.Token = Secret(p.value)
		case "credential":
			k.Credential = Secret(p.value)
		case "catalog-impl":
			b.fault(at, fmt.Sprintf("Java class %q cannot be loaded", p.value), `use "type": "rest", "jdbc" or "hadoop"`)
		case "io-impl":
			b.ignore(at, "a Java class; firn chooses by the scheme of the warehouse")
		default:
			k.Properties[p.name] = p.value
		}
	}
	if k.Type == "sql" {
		k.URI = sqliteURI(k.URI)
	}
}

// catalogType maps the type; without one Java would take hive.
func catalogType(b *build, value string) string {
	switch strings.ToLower(value) {
	case "hadoop", "rest", "sql":
		return strings.ToLower(value)
	case "jdbc":
		return "sql"
	default:
		b.fault("catalogProperties.type", fmt.Sprintf("catalog type %q is not supported", value), "use rest, jdbc or hadoop")
		return ""
	}
}

// sqliteURI turns jdbc:sqlite:FILE into the file; other databases keep their scheme and are refused by Validate.
func sqliteURI(uri string) string {
	file, ok := strings.CutPrefix(uri, "jdbc:sqlite:")
	if !ok {
		return strings.TrimPrefix(uri, "jdbc:")
	}
	if relative := strings.TrimPrefix(file, "file:"); !strings.HasPrefix(relative, "/") {
		return relative
	}
	return file
}

// hadoopToIceberg names the properties of Hadoop's S3 file system as Iceberg's own S3 access does.
func hadoopToIceberg(name string) string {
	switch name {
	case "fs.s3a.endpoint":
		return "s3.endpoint"
	case "fs.s3a.endpoint.region":
		return "s3.region"
	case "fs.s3a.access.key":
		return "s3.access-key-id"
	case "fs.s3a.secret.key":
		return "s3.secret-access-key"
	case "fs.s3a.session.token":
		return "s3.session-token"
	case "fs.s3a.path.style.access":
		return "s3.force-virtual-addressing"
	default:
		return ""
	}
}

// applyHadoopConfig runs after applyCatalog; what the catalog says itself wins.
func applyHadoopConfig(b *build, value string) {
	properties := b.job.Sink.Iceberg.Catalog.Properties
	if properties == nil {
		properties = map[string]string{}
		b.job.Sink.Iceberg.Catalog.Properties = properties
	}
	for _, p := range b.pairs("configProperties", value) {
		at := "configProperties." + p.name
		name := hadoopToIceberg(p.name)
		if name == "" {
			b.ignore(at, "a setting of Hadoop, which firn does not use")
			continue
		}
		if _, set := properties[name]; set {
			b.ignore(at, "catalogProperties sets "+name)
			continue
		}
		properties[name] = p.value
		if name == "s3.force-virtual-addressing" { // the same switch the other way round
			properties[name] = strconv.FormatBool(!strings.EqualFold(p.value, "true"))
		}
	}
}
