package job

import (
	"go.yaml.in/yaml/v4"
)

// pair is one key of a map parameter with its value.
type pair struct{ name, value string }

// flow parses a parameter that is JSON. It takes YAML's flow form as well, since the templates' own help writes maps
// with single quotes.
func (b *build) flow(parameter, text string) *yaml.Node {
	var doc yaml.Node
	if fault, bad := checkText([]byte(text)); bad {
		b.fault(parameter, "holds "+fault.What, fault.Do)
		return nil
	}
	if err := yaml.Load([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		b.fault(parameter, "is not JSON", "check its quotes, commas and brackets")
		return nil
	}
	return doc.Content[0]
}

// pairs parses a map parameter of texts, numbers and true or false.
func (b *build) pairs(parameter, text string) []pair {
	n := b.flow(parameter, text)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		b.fault(parameter, "is not a map", `write {"KEY": "VALUE"}`)
		return nil
	}
	var pairs []pair
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		switch {
		case name.Kind != yaml.ScalarNode:
			b.fault(parameter, "has a key that is not a text", `write {"KEY": "VALUE"}`)
		case seen[name.Value]:
			b.fault(parameter+"."+name.Value, "is there twice", "keep one of the two")
		case value.Kind != yaml.ScalarNode || isNull(value):
			b.fault(parameter+"."+name.Value, "is not a single value", "write a text, a number, true or false")
		default:
			seen[name.Value] = true
			pairs = append(pairs, pair{name.Value, value.Value})
		}
	}
	return pairs
}

// texts parses a list parameter.
func (b *build) texts(parameter, text string) []string {
	n := b.flow(parameter, text)
	if n == nil {
		return nil
	}
	const do = `write ["A", "B"]`
	if n.Kind != yaml.SequenceNode {
		b.fault(parameter, "is not a list", do)
		return nil
	}
	var texts []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) {
			b.fault(parameter, "has an item that is not a text", do)
			return nil
		}
		texts = append(texts, item.Value)
	}
	return texts
}
