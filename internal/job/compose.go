package job

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// fileBytesMax bounds a job file. Hand-written ones are a few kB; an Avro schema inside may take some more.
const fileBytesMax = 1 << 20

// compose parses the text into the one mapping that a job file is. Without a mapping to go on with it returns nil.
func compose(text []byte) (*yaml.Node, Faults) {
	if fault, bad := checkText(text); bad {
		return nil, Faults{fault}
	}
	var docs []yaml.Node
	if err := yaml.Load(text, &docs, yaml.WithAllDocuments()); err != nil {
		fault := syntaxFault(err)
		fault.Line = min(fault.Line, lastLine(text)) // the reader puts the end of the text behind its last line
		return nil, Faults{fault}
	}
	if len(docs) == 0 || len(docs[0].Content) == 0 {
		return nil, Faults{{Line: 1, Column: 1, What: "the job file is empty", Do: emptyDo}}
	}
	root := docs[0].Content[0]
	if isNull(root) {
		return nil, Faults{{Line: 1, Column: 1, What: "the job file is empty", Do: emptyDo}}
	}
	if root.Kind != yaml.MappingNode {
		return nil, Faults{{Line: root.Line, Column: root.Column, What: "expected settings, found " + found(root),
			Do: "write KEY: VALUE lines; examples/ holds whole job files"}}
	}
	if len(docs) > 1 {
		at := docs[1]
		return root, Faults{{Line: max(at.Line, 1), Column: max(at.Column, 1), What: "a second document starts here",
			Do: "write one job a file, without --- between"}}
	}
	return root, nil
}

const emptyDo = "start from a file in examples/"

// checkText refuses what no text editor writes into a job file, with the line, which the YAML reader does not give.
func checkText(text []byte) (Fault, bool) {
	if len(text) > fileBytesMax {
		return Fault{Line: 1, Column: 1, What: fmt.Sprintf("the job file has %d bytes", len(text)),
			Do: fmt.Sprintf("keep it under %s; put a long schema into decode.schema.avro_file", ByteSize(fileBytesMax))}, true
	}
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && width == 1 {
			return textFault(text[:i], "a byte that is not UTF-8", "save the file as UTF-8"), true
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return textFault(text[:i], fmt.Sprintf("control character U+%04X", r), "remove it"), true
		}
		i += width
	}
	return Fault{}, false
}

func textFault(before []byte, what, do string) Fault {
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	column := utf8.RuneCount(before[lineStart:]) + 1
	return Fault{Line: bytes.Count(before, []byte{'\n'}) + 1, Column: column, What: what, Do: do}
}

// lastLine is the number of the last line with text in it.
func lastLine(text []byte) int {
	return bytes.Count(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'}) + 1
}

// syntaxFault rewords an error of the YAML reader.
func syntaxFault(err error) Fault {
	fault := Fault{Line: 1, Column: 1, What: "not valid YAML",
		Do: "check the indentation, colons and quotes around this line"}
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return fault
	}
	fault.Line, fault.Column = max(le.Mark.Line, 1), max(le.Mark.Column, 1)
	fault.What += ": " + strings.TrimPrefix(le.Message, "yaml: ")
	if le.ContextMsg != "" {
		fault.What += " " + le.ContextMsg
	}
	if le.ContextMark.Line > 0 && le.ContextMark.Line != fault.Line {
		fault.What += fmt.Sprintf(" that starts in line %d", le.ContextMark.Line)
	}
	if strings.Contains(le.Message, "cannot start any token") {
		fault.Do = "indent with spaces, not tabs; quote values that start with a special character"
	}
	return fault
}

// isNull tells an empty value, null or ~ from everything else.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// found names what stands in the file, for messages.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "settings"
	case yaml.SequenceNode:
		return "a list"
	default:
		return fmt.Sprintf("%q", n.Value)
	}
}
