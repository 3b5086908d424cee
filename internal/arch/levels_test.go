package arch

// levels has the level of each unit: a unit imports only units of lower levels, so that siblings stay apart and no
// circle can arise. A unit is a folder of internal/ with all below it; each source and each sink is one of its own.
var levels = map[string]int{
	"internal/prefetch": -1,

	"internal/job":     0,
	"internal/literal": 0,
	"internal/metric":  0,
	"internal/record":  0,

	"internal/cluster": 1,
	"internal/decode":  1,
	"internal/gen":     1,
	"internal/parquet": 1,
	"internal/table":   1,
	"internal/window":  1,

	"internal/advise":   2,
	"internal/deletes":  2,
	"internal/pipeline": 2,

	"internal/fault":           3,
	"internal/sink/bigquery":   3,
	"internal/sink/deadletter": 3,
	"internal/sink/iceberg":    3,
	"internal/sink/kafka":      3,
	"internal/source/iceberg":  3,
	"internal/source/kafka":    3,
	"internal/source/pubsub":   3,
	"internal/upkeep":          3,

	"internal/web":  4,
	"internal/wire": 4,

	"internal/bench": 5,

	"cmd/firn": 6,

	"e2e":           7,
	"internal/arch": 7,
}

// forTests are units that any test may import, whatever its level: they fail on purpose.
var forTests = map[string]bool{"internal/fault": true}

// confined has the libraries that only one unit may import, so that they can be replaced there.
var confined = map[string]string{
	"github.com/apache/iceberg-go": "internal/table",
	"github.com/spf13/cobra":       "cmd/firn",
}

const (
	module        = "firn"
	fileLinesMax  = 600
	funcLinesMax  = 70
	mainPackage   = "cmd/firn"
	generatedMark = "// Code generated "
)
