package advise

import "time"

// The constants of the model; docs/advise.md says of each where it was measured.
const (
	rollUpAge  = 10 * time.Minute // the default of the job file
	rollUpHeld = 4e9              // bytes of small files that are kept for their roll-up; the job file's default

	commitObjects = 3 // manifest, manifest list, metadata.json
	getsOfFile    = 2 // footer, column chunks
	partBytes     = 8 << 20
	sealersAtOnce = 8

	diskRequest  = 2 * time.Millisecond
	storeRequest = 50 * time.Millisecond

	commitCPU  = 25e-3  // seconds of a commit
	entryCPU   = 25e-6  // seconds of a manifest entry: when a file comes, and when it goes
	diskCPU    = 50e-6  // seconds of storing a file on a disk, or of reading it
	fieldCPU   = 8e-6   // seconds of encoding a column of a file, whatever is in it
	joinCPU    = 25e-6  // seconds of a file that is joined
	requestCPU = 300e-6 // seconds of a request to an object store
	openCPU    = 200e-6 // seconds of a file in a query
	planCPU    = 23e-6  // seconds of a file that a query's planning looks at

	ingestBytesPerCPU = 300e6
	rollUpBytesPerCPU = 2000e6
	readBytesPerCPU   = 900e6
	scanBytesPerCPU   = 500e6
)

// price is US dollars for each.
type price struct{ cpuSecond, put, get float64 }

// prices are those of a virtual CPU, and of requests to S3 Standard, where files are in an object store.
func prices(l Load) price {
	p := price{cpuSecond: 0.04 / 3600}
	if l.ObjectStore {
		p.put, p.get = 5e-6, 0.4e-6
	}
	return p
}

// requestCost is the CPU of storing a file, or of reading it back.
func requestCost(l Load) float64 {
	if l.ObjectStore {
		return requestCPU
	}
	return diskCPU
}
