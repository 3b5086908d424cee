package gen

import "strconv"

func addressFunctions() []function {
	return []function{
		{"ipv4", "", 0, 0, compileIPv4},
		{"ipv6", `|"lower"|"upper"`, 0, 1, compileIPv6},
		{"street", "", 0, 0, wordFunction(streets)},
		{"city", "", 0, 0, wordFunction(cities)},
		{"state", "", 0, 0, wordFunction(states)},
		{"country", "", 0, 0, wordFunction(countryNames)},
		{"countriesList", "|code|code,code,...", 0, -1, compileCountriesList},
	}
}

// wordFunction picks one of the words.
func wordFunction(list func() []string) func(c *compiler, k *call) node {
	return func(*compiler, *call) node {
		words := list()
		return func(dst []byte, s *State) []byte { return append(dst, pick(&s.random, words)...) }
	}
}

func compileIPv4(*compiler, *call) node {
	return func(dst []byte, s *State) []byte {
		word := s.random.next()
		for i := range 4 {
			if i > 0 {
				dst = append(dst, '.')
			}
			dst = strconv.AppendUint(dst, word>>(8*i)&0xff, 10)
		}
		return dst
	}
}

// compileIPv6 writes eight groups without leading zeros and without the short form "::".
func compileIPv6(c *compiler, k *call) node {
	upper := &argument[bool]{}
	if len(k.operands) > 0 {
		upper = newArgument(c, k.operands[0], parseHexCase)
	}
	return func(dst []byte, s *State) []byte {
		start := len(dst)
		words := [2]uint64{s.random.next(), s.random.next()}
		for i := range 8 {
			if i > 0 {
				dst = append(dst, ':')
			}
			dst = strconv.AppendUint(dst, words[i/4]>>(16*(i%4))&0xffff, 16)
		}
		if upper.value(s) {
			for i, b := range dst[start:] {
				if 'a' <= b && b <= 'f' {
					dst[start+i] = b - 'a' + 'A'
				}
			}
		}
		return dst
	}
}

func parseHexCase(text string) (upper bool, err error) {
	if text != "upper" && text != "lower" {
		return false, problemf(`write "upper" or "lower"`, "ipv6 does not know the case %q", shorten(text))
	}
	return text == "upper", nil
}

// compileCountriesList: without a code a JSON object of all countries by code, with one the country's name, with
// several a JSON object of those.
func compileCountriesList(c *compiler, k *call) node {
	codes := make([]string, len(k.operands))
	for i := range k.operands {
		codes[i] = c.constantText(k, i, "a code")
	}
	names := countriesByCode()
	if len(codes) == 1 {
		if names[codes[0]] == "" {
			c.fail(k.operands[0].offset, unknownCountry(codes[0]))
		}
		return func(dst []byte, _ *State) []byte { return append(dst, names[codes[0]]...) }
	}
	if len(codes) == 0 {
		codes = countryCodes()
	}
	list := []byte{'{'}
	for i, code := range codes {
		if names[code] == "" {
			c.fail(k.operands[i].offset, unknownCountry(code))
		}
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendQuote(append(strconv.AppendQuote(list, code), ':'), names[code])
	}
	list = append(list, '}')
	return func(dst []byte, s *State) []byte {
		if !s.spend(k.offset, len(list)) {
			return dst
		}
		return append(dst, list...)
	}
}

func unknownCountry(code string) error {
	return problemf("write a code of ISO 3166-1 such as DE", "no country has the code %q", shorten(code))
}
