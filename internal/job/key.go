package job

import (
	"reflect"
	"strings"
)

// key is one key of a block of settings: its name in the file and the field that it fills.
type key struct {
	name  string
	index []int // for reflect.Value.FieldByIndex
	typ   reflect.Type
}

// keysOf lists the keys of a settings struct in order. An inline struct gives its own keys; a field with the tag "-" is
// not a setting.
func keysOf(t reflect.Type) []key {
	var keys []key
	for i := range t.NumField() {
		field := t.Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case name == "-":
		case option == "inline":
			for _, k := range keysOf(field.Type) {
				keys = append(keys, key{k.name, append([]int{i}, k.index...), k.typ})
			}
		default:
			keys = append(keys, key{name, []int{i}, field.Type})
		}
	}
	return keys
}

// settingPaths lists the dotted path of every setting of the job file that is not itself a block of settings.
func settingPaths() []string { return pathsBelow("", reflect.TypeFor[Job]()) }

func pathsBelow(path string, t reflect.Type) []string {
	var paths []string
	for _, k := range keysOf(t) {
		below := joinPath(path, k.name)
		if k.typ.Kind() == reflect.Struct {
			paths = append(paths, pathsBelow(below, k.typ)...)
			continue
		}
		paths = append(paths, below)
	}
	return paths
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
