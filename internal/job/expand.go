package job

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// text is a value of the file with ${NAME} replaced from the environment, where a secret may be. Elsewhere the file
// itself must say what happens, whatever machine it runs on.
func (w *walker) text(value string, secret bool, path string) string {
	if secret {
		return w.expand(value, path)
	}
	if name := variable.FindString(value); name != "" && !strings.HasPrefix(path, "decode.schema.") {
		w.fault(path, name+" is replaced in secrets only", "write the value itself")
	}
	return value
}

// variable is what ${NAME} looks like.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// expand replaces each ${NAME}. A literal ${ is written $${. What a variable holds is not expanded again.
func (w *walker) expand(value, path string) string {
	var out strings.Builder
	for {
		before, rest, more := strings.Cut(value, "${")
		if !more {
			out.WriteString(before)
			break
		}
		if strings.HasSuffix(before, "$") {
			out.WriteString(before[:len(before)-1] + "${")
			value = rest
			continue
		}
		out.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !variable.MatchString("${"+name+"}") {
			w.fault(path, "${ is not followed by NAME}", "write ${NAME} for a variable of the environment, $${ for the text ${")
			break
		}
		out.WriteString(w.lookUp(name, path))
		value = after
	}
	if out.String() == mask {
		w.fault(path, "holds "+mask+", which firn prints in place of a secret", "write the secret as ${NAME}")
	}
	return out.String()
}

func (w *walker) lookUp(name, path string) string {
	value := ""
	if w.env != nil {
		value = w.env(name)
	}
	if value == "" {
		w.fault(path, "the environment variable "+name+" is not set, or empty", "export "+name+" before the start")
	}
	return value
}

// holdsSecret tells whether ${NAME} is replaced at that path: in secrets, in secret properties of the catalog, and in
// the catalog's URI, which may hold a password.
func holdsSecret(path string, t reflect.Type) bool {
	if t == reflect.TypeFor[Secret]() || path == "sink.iceberg.catalog.uri" {
		return true
	}
	name, isProperty := strings.CutPrefix(path, "sink.iceberg.catalog.properties.")
	return isProperty && secretProperty(name)
}

// secretProperty tells whether a catalog property's value must not be shown, by its name: s3.secret-access-key,
// header.Authorization, adls.sas-token.BUCKET and the like.
func secretProperty(name string) bool {
	name = strings.ToLower(name)
	parts := []string{"secret", "token", "password", "credential", "access-key", "authorization", "private-key", "jsonkey"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
