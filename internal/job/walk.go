package job

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// walker fills a Job from the parsed file and notes everything that does not fit. It is used in place of the YAML
// library's own decoding because that stops at nested types, names Go types in its messages, and turns true into "true"
// or 1.0 into 1 without a word.
type walker struct {
	env    func(string) string
	places places
	faults Faults
	// spoiled holds the paths whose value could not be taken: what Validate says about them is noise.
	spoiled map[string]bool
}

func newWalker(env func(string) string) *walker {
	return &walker{env: env, places: places{}, spoiled: map[string]bool{}}
}

func (w *walker) fault(path, what, do string) {
	at := w.places.find(path)
	w.faults = append(w.faults, Fault{Line: at.line, Column: at.column, Path: path, What: what, Do: do})
	w.spoiled[path] = true
}

// walk fills v, which is addressable, from n. An empty value leaves the default.
func (w *walker) walk(n *yaml.Node, v reflect.Value, path string) {
	switch {
	case n.Kind == yaml.AliasNode:
		w.fault(path, "an alias (*"+n.Value+") is not supported", "write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		w.fault(path, "a tag ("+n.Tag+") is not supported", "write the value without it")
	case isNull(n):
	case v.Kind() == reflect.Struct:
		w.block(n, v, path)
	case v.Kind() == reflect.Slice:
		w.list(n, v, path)
	case v.Kind() == reflect.Map:
		w.properties(n, v, path)
	case n.Kind != yaml.ScalarNode:
		w.fault(path, "expected "+wanted(v.Type())+", found "+found(n), "write it as KEY: VALUE on one line")
	default:
		w.scalar(n, v, path)
	}
}

func (w *walker) block(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		w.fault(path, "expected settings, found "+found(n), "write its keys below it, indented")
		return
	}
	keys := keysOf(v.Type())
	w.pairs(n, path, func(name string, value *yaml.Node, below string) {
		for _, k := range keys {
			if k.name == name {
				w.walk(value, v.FieldByIndex(k.index), below)
				return
			}
		}
		w.unknown(name, keys, path, below)
	})
}

// pairs calls do for each key of a mapping that is a plain text and stands there for the first time.
func (w *walker) pairs(n *yaml.Node, path string, do func(name string, value *yaml.Node, below string)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, value := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			w.places[path+"[?]"] = place{k.Line, k.Column}
			w.fault(path+"[?]", "expected a key, found "+found(k), "write KEY: VALUE")
			continue
		}
		below := joinPath(path, k.Value)
		if line, again := seen[k.Value]; again {
			w.faults = append(w.faults, Fault{Line: k.Line, Column: k.Column, Path: below,
				What: fmt.Sprintf("is set twice, first in line %d", line), Do: "keep one of the two"})
			continue
		}
		seen[k.Value] = k.Line
		w.places[below] = place{k.Line, k.Column}
		do(k.Value, value, below)
	}
}

func (w *walker) unknown(name string, keys []key, path, below string) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	do := "remove it; the keys here are " + strings.Join(names, ", ")
	if name == "<<" {
		do = "write the merged keys out"
	} else if near := nearest(name, names); near != "" {
		do = "did you mean " + near + "?"
		w.spoiled[joinPath(path, near)] = true
	} else if home := homeOf(name); home != "" {
		do = "it belongs at " + home
		w.spoiled[home] = true
	}
	w.fault(below, "unknown key", do)
}

// homeOf is the path of the one setting of that name, however spelt, elsewhere in the file, or empty.
func homeOf(name string) string {
	home := ""
	for _, path := range settingPaths() {
		if bare(path[strings.LastIndexByte(path, '.')+1:]) != bare(name) {
			continue
		}
		if home != "" {
			return ""
		}
		home = path
	}
	return home
}

func (w *walker) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		w.fault(path, "expected a list, found "+found(n), "write each item on its own line after a dash, or [A, B]")
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		below := fmt.Sprintf("%s[%d]", path, i)
		w.places[below] = place{item.Line, item.Column}
		if isNull(item) {
			w.fault(below, "is empty", "write a value or remove the dash")
			continue
		}
		w.walk(item, items.Index(i), below)
	}
	if len(n.Content) > 0 {
		v.Set(items)
	}
}

func (w *walker) properties(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		w.fault(path, "expected a map, found "+found(n), "write KEY: VALUE lines below it, indented")
		return
	}
	if len(n.Content) > 0 {
		v.Set(reflect.MakeMap(v.Type()))
	}
	w.pairs(n, path, func(name string, value *yaml.Node, below string) {
		if isNull(value) {
			w.fault(below, "has no value", "write a value or remove the key")
			return
		}
		element := reflect.New(v.Type().Elem()).Elem()
		w.walk(value, element, below)
		v.SetMapIndex(reflect.ValueOf(name), element)
	})
}

func (w *walker) scalar(n *yaml.Node, v reflect.Value, path string) {
	if v.Kind() == reflect.String {
		v.SetString(w.text(n.Value, holdsSecret(path, v.Type()), path))
		return
	}
	if err := setScalar(v, n.Value); err != nil {
		w.fault(path, fmt.Sprintf("%q is not %s", n.Value, wanted(v.Type())), "write "+example(v.Type()))
	}
}

func setScalar(v reflect.Value, text string) error {
	switch target := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return target.UnmarshalText([]byte(text))
	case *time.Duration:
		return set(target, text, time.ParseDuration)
	case *bool:
		return set(target, text, parseBool)
	case *int:
		return set(target, text, strconv.Atoi)
	default:
		return fmt.Errorf("setting of type %T", target)
	}
}

// set leaves the target as it is when the text does not parse, so that Validate sees the default.
func set[T any](target *T, text string, parse func(string) (T, error)) error {
	value, err := parse(text)
	if err == nil {
		*target = value
	}
	return err
}

// parseBool takes true and false only: strconv would take T and 1 as well.
func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fmt.Errorf("%q is not true or false", text)
	}
	return text == "true", nil
}

// wanted names what a setting of that type takes.
func wanted(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a duration"
	case reflect.TypeFor[ByteSize]():
		return "a size"
	case reflect.TypeFor[bool]():
		return "true or false"
	case reflect.TypeFor[int]():
		return "a whole number"
	default:
		return "a text"
	}
}

func example(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "a number with its unit, such as 200ms, 30s, 10m or 1h"
	case reflect.TypeFor[ByteSize]():
		return "a whole number with its unit, such as 64MB or 512MiB"
	default:
		return wanted(t)
	}
}
