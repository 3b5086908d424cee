package job

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// masked is the catalog without anything secret: properties with a telling name, and a password in the URI.
func (k Catalog) masked() Catalog {
	k.Properties = maps.Clone(k.Properties)
	for name, value := range k.Properties {
		if _, err := strconv.ParseBool(value); err != nil && secretProperty(name) {
			k.Properties[name] = mask
		}
	}
	k.URI = redacted(k.URI)
	return k
}

// redacted is the URI without its password. One that does not parse loses all up to its last @.
func redacted(uri string) string {
	if u, err := url.Parse(uri); err == nil {
		if u.User == nil {
			return uri
		}
		return u.Redacted()
	}
	start, at := strings.Index(uri, "//"), strings.LastIndexByte(uri, '@')
	if start < 0 || at < start {
		return uri
	}
	return uri[:start+2] + "xxxxx" + uri[at:]
}

// plainCatalog has the fields of Catalog without its methods.
type plainCatalog Catalog

// String is the catalog without its secrets.
func (k Catalog) String() string { return fmt.Sprintf("%+v", plainCatalog(k.masked())) }

// Format prints String for every verb of fmt: %d and %x would otherwise print the properties themselves.
func (k Catalog) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// LogValue is what log/slog records: the same.
func (k Catalog) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalJSON writes the catalog without its secrets.
func (k Catalog) MarshalJSON() ([]byte, error) { return json.Marshal(plainCatalog(k.masked())) }
