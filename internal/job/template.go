package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// template is a known template: its parameters and how they make a job.
type template struct {
	name       string
	parameters []parameter
	// begin sets what the template fixes, before any parameter.
	begin func(b *build)
}

// parameter is one parameter of a template.
type parameter struct {
	name     string
	required bool
	// homes are the paths of the settings that it decides: their faults are told as faults of the parameter.
	homes []string
	// apply takes the value, which is not empty. Parameters are applied in the order of the template.
	apply func(b *build, value string)
}

func templates() []template { return []template{kafkaToIcebergYAML()} }

// Templates lists the names that FromTemplate knows.
func Templates() []string {
	var names []string
	for _, t := range templates() {
		names = append(names, t.name)
	}
	return names
}

// build is a job in the making from the parameters of a template.
type build struct {
	job      *Job
	template template
	values   map[string]string // by the parameter's name in the template's own spelling
	faults   Faults
}

// FromTemplate makes a job from the parameters of a template, unchanged: names in the template's spelling or in snake
// case, values as texts, maps and lists as JSON (or YAML's flow form of it). An empty value is as good as none. jobName
// is an extra parameter; without it the job is named after its table. The error is Faults: everything at once. What was
// accepted without effect is listed in Job.Ignored.
func FromTemplate(name string, parameters map[string]string) (*Job, error) {
	all := templates()
	i := slices.IndexFunc(all, func(t template) bool { return t.name == name })
	if i < 0 {
		return nil, Faults{{What: fmt.Sprintf("unknown template %q, known: %s", name, strings.Join(Templates(), ", ")),
			Do: "check the spelling, or write a job file"}}
	}
	j := Default()
	b := &build{job: &j, template: all[i], values: map[string]string{}}
	b.collect(parameters)
	b.template.begin(b)
	for _, p := range b.template.parameters {
		if value := b.values[p.name]; value != "" {
			p.apply(b, value)
		}
	}
	j.complete()
	b.addFaults(faultsOf(j.Validate()))
	if err := b.faults.err(); err != nil {
		return nil, err
	}
	return &j, nil
}

// fault notes what is wrong with a parameter, or with one KEY of a map parameter, written NAME.KEY.
func (b *build) fault(parameter, what, do string) {
	where := "template " + b.template.name
	b.faults = append(b.faults, Fault{File: where, Path: "parameter " + parameter, What: what, Do: do})
}

func (b *build) ignore(parameter, reason string) {
	b.job.Ignored = append(b.job.Ignored, Ignored{Parameter: parameter, Reason: reason})
}

// collect sorts the given parameters into values, by either spelling.
func (b *build) collect(given map[string]string) {
	names := make([]string, len(b.template.parameters))
	for i, p := range b.template.parameters {
		names[i] = p.name
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(names, func(known string) bool { return known == name || snakeCase(known) == name })
		if i < 0 {
			b.unknown(name, names)
			continue
		}
		if other, twice := b.values[names[i]]; twice && other != given[name] {
			b.fault(name, "is given in two spellings with two values", "keep "+names[i])
		}
		b.values[names[i]] = given[name]
	}
	for _, p := range b.template.parameters {
		if p.required && b.values[p.name] == "" {
			b.fault(p.name, "is missing", "the template requires it")
		}
	}
}

func (b *build) unknown(name string, names []string) {
	do := "remove it; the parameters are " + strings.Join(names, ", ")
	if near := nearest(name, names); near != "" {
		do = "did you mean " + near + "?"
	}
	b.fault(name, "unknown parameter", do)
}

// snakeCase is bootstrap_servers for bootstrapServers.
func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// addFaults adds what Validate found, told as faults of parameters, but for parameters that have a fault already.
func (b *build) addFaults(faults Faults) {
	told := map[string]bool{}
	for _, f := range b.faults {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "parameter "), ".")
		told[name] = true
	}
	for _, f := range faults {
		name := b.parameterOf(f.Path)
		if !told[name] {
			b.fault(name, f.What, f.Do)
		}
	}
}

// parameterOf is the parameter that decides the setting at path: of those that are given, or should be, the one with
// the longest home, and the last of equals.
func (b *build) parameterOf(path string) string {
	name, length := path, -1
	for _, p := range b.template.parameters {
		if !p.required && b.values[p.name] == "" {
			continue
		}
		for _, home := range p.homes {
			if within(path, home) && len(home) >= length {
				name, length = p.name, len(home)
			}
		}
	}
	return name
}

// ignored is an apply for a parameter without effect.
func ignored(parameter, reason string) func(*build, string) {
	return func(b *build, _ string) { b.ignore(parameter, reason) }
}

// ignoredIf is an apply for a true or false parameter that is without effect when it is as given, and needs no word
// otherwise.
func ignoredIf(parameter string, when bool, reason string) func(*build, string) {
	return func(b *build, value string) {
		on, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			b.fault(parameter, fmt.Sprintf("%q is not true or false", value), "write true or false")
			return
		}
		if on == when {
			b.ignore(parameter, reason)
		}
	}
}

// unsupported is an apply for a parameter that would change the result and is not built.
func unsupported(parameter, do string) func(*build, string) {
	return func(b *build, _ string) { b.fault(parameter, "is not supported yet", do) }
}
