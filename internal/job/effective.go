package job

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// YAML is the job as a job file, with every default written out and [secret] in place of secrets. Settings that are
// empty and off are left out. Parse reads it back to the same job, but for the secrets, which it refuses in that form.
func (j *Job) YAML() string {
	masked := *j
	masked.Sink.Iceberg.Catalog = j.Sink.Iceberg.Catalog.masked()
	masked.Sink.Iceberg.Catalog.URI = strings.ReplaceAll(masked.Sink.Iceberg.Catalog.URI, "${", "$${")
	if s := &masked.Source.Kafka.SASL; s.PasswordFile != "" {
		s.Password = ""
	}
	if s := &masked.Source.Kafka.SASL; s.TokenFile != "" {
		s.Token = ""
	}
	tree := encodeBlock(reflect.ValueOf(masked), reflect.ValueOf(Default()))
	text, err := yaml.Dump(tree, yaml.WithLineWidth(-1), yaml.WithCompactSeqIndent(false))
	if err != nil { // The tree holds nothing but texts, lists and maps.
		return fmt.Sprintf("# printing the job: %v\n", err)
	}
	return string(text)
}

// encodeBlock gives the block's keys in the order of the struct. A text, list or map that is empty, and is so by
// default, is left out, and so is a block with nothing left in it.
func encodeBlock(v, def reflect.Value) *yaml.Node {
	block := &yaml.Node{Kind: yaml.MappingNode}
	for _, k := range keysOf(v.Type()) {
		value, preset := v.FieldByIndex(k.index), def.FieldByIndex(k.index)
		var n *yaml.Node
		switch {
		case value.Kind() == reflect.Struct:
			if n = encodeBlock(value, preset); len(n.Content) == 0 {
				continue
			}
		case isEmpty(value) && isEmpty(preset):
			continue
		default:
			n = encodeValue(value)
		}
		block.Content = append(block.Content, scalarNode(k.name), n)
	}
	return block
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return false
	}
}

func encodeValue(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.Slice:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			list.Content = append(list.Content, encodeItem(v.Index(i)))
		}
		return list
	case reflect.Map:
		return encodeMap(v)
	default:
		return encodeScalar(v)
	}
}

// encodeItem gives a list item; of a block only the keys that are set.
func encodeItem(v reflect.Value) *yaml.Node {
	if v.Kind() != reflect.Struct {
		return encodeScalar(v)
	}
	block := &yaml.Node{Kind: yaml.MappingNode}
	for _, k := range keysOf(v.Type()) {
		if value := v.FieldByIndex(k.index); !value.IsZero() {
			block.Content = append(block.Content, scalarNode(k.name), encodeValue(value))
		}
	}
	return block
}

func encodeMap(v reflect.Value) *yaml.Node {
	block := &yaml.Node{Kind: yaml.MappingNode}
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		block.Content = append(block.Content, textNode(name.String()), textNode(v.MapIndex(name).String()))
	}
	return block
}

func encodeScalar(v reflect.Value) *yaml.Node {
	switch value := v.Interface().(type) {
	case time.Duration:
		return scalarNode(durationText(value))
	case ByteSize:
		return scalarNode(value.String())
	case Secret:
		return textNode(value.String())
	case bool:
		return scalarNode(strconv.FormatBool(value))
	case int:
		return scalarNode(strconv.Itoa(value))
	default:
		return textNode(v.String())
	}
}

func scalarNode(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// textNode is a text that is quoted where it could be read as something else.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}
