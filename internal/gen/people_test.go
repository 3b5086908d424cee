package gen

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestWordLists(t *testing.T) {
	for _, c := range []struct {
		text string
		list []string
	}{
		{`{{firstName()}}`, append(femaleNames(), maleNames()...)},
		{`{{firstName("male")}}`, maleNames()},
		{`{{firstName('female')}}`, femaleNames()},
		{`{{lastName()}}`, lastNames()},
		{`{{surname()}}`, lastNames()},
		{`{{company()}}`, companies()},
		{`{{street()}}`, streets()},
		{`{{city()}}`, cities()},
		{`{{state()}}`, states()},
		{`{{country()}}`, countryNames()},
	} {
		made := messages(t, c.text, 500)
		for _, m := range made {
			if !slices.Contains(c.list, m) {
				t.Errorf("%s made %q", c.text, m)
			}
		}
		if distinct(made) < len(c.list)/2 {
			t.Errorf("%s made only %d of %d words", c.text, distinct(made), len(c.list))
		}
		for _, word := range c.list {
			if strings.ContainsAny(word, "\"\\,\t\n") || word == "" || strings.TrimSpace(word) != word {
				t.Errorf("the word %q of %s does not fit a JSON string", word, c.text)
			}
		}
	}
	if n := len(countryCodes()); n != 249 {
		t.Errorf("%d countries, want the 249 of ISO 3166-1", n)
	}
	if n := len(states()); n != 50 {
		t.Errorf("%d states, want 50", n)
	}
	expectError(t, `{{firstName("x")}}`, `no names for "x"`)
}

func TestPeople(t *testing.T) {
	expectMatch(t, `{{username()}}`, `[a-z]{3,}`)
	expectMatch(t, `{{email()}}`, `[a-z]+\.[a-z]+@[a-z]+\.com`)
	expectMatch(t, `{{email("My.Domain.org")}}`, `[a-z]+\.[a-z]+@my\.domain\.org`)
	expectMatch(t, `{{firstName(gender())}}`, `[A-Z][a-z]+`)
	expectShare(t, `{{gender()}}`, "male", 0.5)
	expectShare(t, `{{gender(0.1)}}`, "male", 0.1)
	for _, m := range expectMatch(t, `{{phone()}}`, `[1-7][0-7][0-7]-\d{3}-\d{4}`) {
		if exchange, err := strconv.Atoi(m[4:7]); err != nil || exchange > 742 {
			t.Fatalf("phone() made %s", m)
		}
	}
	for _, m := range expectMatch(t, `{{ssn()}}`, `\d{3}-\d{2}-\d{4}`) {
		if m[:3] == "000" || m[:3] > "798" || m[4:6] == "00" || m[4:6] > "98" || m[7:] == "0000" || m[7:] > "9998" {
			t.Fatalf("ssn() made %s", m)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, m := range expectMatch(t, `{{ipv4()}}`, `\d{1,3}(\.\d{1,3}){3}`) {
		for part := range strings.SplitSeq(m, ".") {
			if n, err := strconv.Atoi(part); err != nil || n > 255 {
				t.Fatalf("ipv4() made %s", m)
			}
		}
	}
	expectMatch(t, `{{ipv6()}}`, `[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}`)
	expectMatch(t, `{{ipv6("lower")}}`, `[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}`)
	expectMatch(t, `{{ipv6("upper")}}`, `[0-9A-F]{1,4}(:[0-9A-F]{1,4}){7}`)
	expectError(t, `{{ipv6("UPPER")}}`, "does not know the case")
}

func TestCountriesList(t *testing.T) {
	expectText(t, `{{countriesList("DE")}}`, "Germany")
	expectText(t, `{{countriesList("IN","US")}}`, `{"IN":"India","US":"United States"}`)
	var all map[string]string
	if err := json.Unmarshal([]byte(messages(t, `{{countriesList()}}`, 1)[0]), &all); err != nil || len(all) != 249 {
		t.Errorf("countriesList() has %d countries, %v", len(all), err)
	}
	expectError(t, `{{countriesList("XX")}}`, `no country has the code "XX"`)
	expectError(t, `{{countriesList("DE","XX")}}`, `no country has the code "XX"`, "column 22")
}

func TestLorem(t *testing.T) {
	expectMatch(t, `{{lorem(1,"words")}}`, `[a-z]+`)
	expectText(t, `{{lorem(2,"words")}}`, "lorem ipsum")
	expectMatch(t, `{{lorem(5,"words")}}`, `lorem ipsum( [a-z]+){3}`)
	const sentence = `Lorem ipsum( [a-z]+){3,32}\.`
	const paragraph = `\\t` + sentence + `( ` + sentence + `){1,5}`
	expectMatch(t, `{{lorem(1,"paragraphs")}}`, paragraph)
	expectMatch(t, `{{lorem(3,"paragraphs")}}`, paragraph+`(\\n\\n`+paragraph+`){2}`)
	expectError(t, `{{lorem(0,"words")}}`, "out of range for the count")
	expectError(t, `{{lorem(1,"pages")}}`, `does not make "pages"`)
	for _, word := range loremWords() {
		if len(word) > 15 {
			t.Errorf("%s is longer than appendWords counts with", word)
		}
	}
}
