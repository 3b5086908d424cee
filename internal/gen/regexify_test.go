package gen

import "testing"

func TestRegexify(t *testing.T) {
	for _, pattern := range []string{
		`[a-z1-9]{10}`, `\d{3}-\d{4}`, `(abc|de){2}x?`, `a*b+`, `[^a-z]{3}`, `.{5}`, `(?i)hello`, `x{2,}`, `x{2,4}`,
		`^anchored$`, `\w+@\w+\.com`, `[äöü]{2}`, `[\x00-\x08]`, `(?s).`, `\p{Greek}{2}`, ``, `["]`,
	} {
		t.Run(pattern, func(t *testing.T) {
			expectMatch(t, `{{regexify("`+escapeBraces(pattern)+`")}}`, "(?s:"+pattern+")")
		})
	}
	expectMatch(t, `{{regexify("en-GB", "[ab]{3}")}}`, `[ab]{3}`)
	expectMatch(t, `{{regexify(concat("[a", "b]"))}}`, `[ab]`)
	expectMatch(t, `{{regexify('[^x]\{4\}')}}`, `[^x"\\]{4}`) // nothing that JSON would have to escape
}

// escapeBraces leaves braces, which may stand in quotes, and escapes the quote for the template.
func escapeBraces(pattern string) string {
	if pattern == `["]` {
		return `[\"]`
	}
	return pattern
}

func TestRegexifyBounds(t *testing.T) {
	made := expectMatch(t, `{{regexify("a*")}}`, `a*`)
	expectLengths(t, made, 0, regexifyMore)
	expectLengths(t, expectMatch(t, `{{regexify("a+")}}`, `a+`), 1, 1+regexifyMore)
	expectLengths(t, expectMatch(t, `{{regexify("a{3,}")}}`, `a+`), 3, 3+regexifyMore)
	expectLengths(t, expectMatch(t, `{{regexify("a{3,5}")}}`, `a+`), 3, 5)
	expectError(t, `{{regexify("(")}}`, "no regular expression")
	expectError(t, `{{regexify("a{2000}")}}`, "no regular expression")
	expectError(t, `{{regexify("a\bb")}}`, "cannot be made into text")
	expectError(t, `{{regexify("a^b")}}`, "no text that the pattern")
	expectError(t, `{{regexify("(?=x)")}}`, "look-around")
	expectError(t, `{{regexify("[^\x00-\x{10FFFF}]")}}`, "no text that the pattern")
}
