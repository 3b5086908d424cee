package job

import (
	"strings"
	"testing"
)

// What the spellings of the reference become: autosharding, the grouping by key, and neither.
func TestTemplateDistribution(t *testing.T) {
	f := func(mode, autosharding, want, wantFault string) {
		t.Run(mode+"/"+autosharding, func(t *testing.T) {
			parameters := parametersFile(t, "testdata/everything.params")
			for _, spelling := range []struct{ name, value string }{
				{"distribution_mode", mode}, {"autosharding", autosharding},
			} {
				delete(parameters, spelling.name)
				if spelling.value != "" {
					parameters[spelling.name] = spelling.value
				}
			}
			delete(parameters, "distributionMode")
			j, err := FromTemplate("Kafka_To_Iceberg_Yaml", parameters)
			switch {
			case wantFault != "":
				if err == nil || !strings.Contains(err.Error(), wantFault) {
					t.Errorf("error %v, want %q in it", err, wantFault)
				}
			case err != nil:
				t.Error(err)
			case j.Sink.Iceberg.Distribution != want:
				t.Errorf("distribution %s, want %s", j.Sink.Iceberg.Distribution, want)
			}
		})
	}
	f("", "", "auto", "")
	f("", "true", "auto", "")
	f("", "false", "hash", "")
	f("hash", "", "hash", "")
	f("HASH", "False", "hash", "")
	f("hash", "true", "auto", "")
	f("none", "", "none", "")
	f("none", "false", "none", "")
	f("none", "true", "", "has no effect with distributionMode none")
	f("range", "", "", `"range" is not known`)
	f("", "yes", "", `"yes" is not true or false`)
}
