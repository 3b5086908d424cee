package job

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ParseParameters reads template parameters as gcloud takes them: a=b,c=d, or with another delimiter ^@^a=b@c=d (gcloud
// topic escaping), one text a flag. The names of several texts are merged. A value may hold =, and a value that is JSON
// may hold the delimiter. A name that is given twice is an error.
func ParseParameters(texts ...string) (map[string]string, error) {
	parameters := map[string]string{}
	for _, text := range texts {
		delimiter, rest, err := splitDelimiter(text)
		if err != nil {
			return nil, err
		}
		for more := rest != ""; more; {
			var item string
			item, rest, more = nextItem(rest, delimiter)
			name, value, ok := strings.Cut(item, "=")
			if !ok || name == "" {
				return nil, fmt.Errorf("parameter %s is not NAME=VALUE; when a value holds %q, choose another delimiter: "+
					"^@^NAME=VALUE@NAME=VALUE", abbreviated(item), delimiter)
			}
			if _, twice := parameters[name]; twice {
				return nil, fmt.Errorf("parameter %s is given twice", name)
			}
			parameters[name] = value
		}
	}
	return parameters, nil
}

// abbreviated quotes the start of an item that may be the rest of a secret or a long schema.
func abbreviated(item string) string {
	const runes = 12
	if r := []rune(item); len(r) > runes {
		return fmt.Sprintf("%q...", string(r[:runes]))
	}
	return fmt.Sprintf("%q", item)
}

func splitDelimiter(text string) (delimiter, rest string, err error) {
	after, marked := strings.CutPrefix(text, "^")
	if !marked {
		return ",", text, nil
	}
	delimiter, rest, ok := strings.Cut(after, "^")
	if !ok {
		return ",", text, nil
	}
	if delimiter == "" || strings.Contains(delimiter, "=") {
		return "", "", fmt.Errorf("%q is no delimiter between parameters; write one such as ^@^", delimiter)
	}
	return delimiter, rest, nil
}

// nextItem cuts NAME=VALUE from the front. A value that is a whole JSON object or array up to a delimiter or the end is
// taken as one; everything else ends at the first delimiter, as with gcloud. After a delimiter there is more, if only
// an empty item.
func nextItem(text, delimiter string) (item, rest string, more bool) {
	end := strings.Index(text, delimiter)
	if equals := strings.IndexByte(text, '='); equals >= 0 && (end < 0 || equals < end) {
		if stop := equals + 1 + jsonLength(text[equals+1:]); stop == len(text) || strings.HasPrefix(text[stop:], delimiter) {
			end = stop
		}
	}
	if end < 0 || end == len(text) {
		return text, "", false
	}
	return text[:end], text[end+len(delimiter):], true
}

// jsonLength is the length of the JSON object or array at the front of text, or 0.
func jsonLength(text string) int {
	if text == "" || (text[0] != '{' && text[0] != '[') {
		return 0
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if decoder.Decode(&value) != nil {
		return 0
	}
	return int(decoder.InputOffset())
}
