package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// peerSources are the programs of the rivals and what they depend on.
//
//go:embed peers
var peerSources embed.FS

// peer is a rival: how it is installed and started. What it does is in peers/, with the versions in its *.pom.xml.
type peer struct {
	id    string // as in --rivals
	name  string
	heap  string   // -Xmx
	poms  []string // names of peers/NAME.pom.xml; the first is its class path
	table string   // of poms: has Iceberg, to make the table with
	opens []string // packages of java.base that it must reach into
	main  string   // class
	about string   // for conditions
	// arguments of main, for a run. It may write files into the folder of the run.
	arguments func(ctx context.Context, r *peerRun) ([]string, error)

	jars map[string]string // folder of the jars, by pom; set by install
}

// peerRun is one run of a rival.
type peerRun struct {
	jobConfig
	peer  *peer
	group string // name of its own for what it leaves at the broker
	bytes int64  // of a message
}

func allPeers() []*peer { return []*peer{flinkPeer(), connectPeer(), sparkPeer()} }

// rivalsAuto asks for all rivals that can be had.
const rivalsAuto = "auto"

// CheckRivals says what is wrong with a list of rivals.
func CheckRivals(ids []string) error {
	_, err := choosePeers(Options{Rivals: ids, Brokers: []string{"any"}})
	return err
}

// choosePeers are the rivals asked for. Without a real broker there are none: the stand-in does not know all that
// their clients ask.
func choosePeers(o Options) ([]*peer, error) {
	var chosen []*peer
	for _, p := range allPeers() {
		if slices.Contains(o.Rivals, p.id) || slices.Contains(o.Rivals, rivalsAuto) {
			chosen = append(chosen, p)
		}
	}
	for _, id := range o.Rivals {
		if id != rivalsAuto && !slices.ContainsFunc(chosen, func(p *peer) bool { return p.id == id }) {
			return nil, fmt.Errorf("there is no rival %q; choose from flink, connect, spark, auto, none", id)
		}
	}
	if len(o.Brokers) == 0 {
		return nil, nil
	}
	return chosen, nil
}

// openPeers installs the rivals that were asked for. Those that cannot be had are named, and left out.
func (s *session) openPeers(ctx context.Context) []*peer {
	chosen, err := choosePeers(s.Options)
	switch {
	case err != nil:
		s.warn("rivals are skipped: %v", err)
	case len(chosen) == 0 && len(s.Rivals) > 0:
		s.warn("rivals are skipped: they need a real Kafka, --brokers")
	}
	var ready []*peer
	for _, p := range chosen {
		s.Progress.step(say("fetching %s, unless it is there", p.name)) // not one of the steps that are counted
		if err := p.install(ctx); err != nil {
			s.warn("%s is skipped: %v", p.name, err)
			continue
		}
		ready = append(ready, p)
	}
	return ready
}

// conditions say what the rival is and how it was measured.
func (p *peer) conditions() string {
	return fmt.Sprintf("%s, heap %s, Java; one process; commits every %s; hadoop catalog in a local folder; the CPU time "+
		"is the process's between its first commit after %g CPU-seconds and its last one", p.about, p.heap, commitEvery,
		warmCPU.Seconds())
}

// peerRunMax is how long a rival may take for a run.
const peerRunMax = 6 * time.Minute

// peer has a rival move the topic once, in a process of its own.
func (m *mover) peer(ctx context.Context, p *peer, c jobConfig) (run measured, err error) {
	if _, err := c.write(); err != nil { // for files
		return run, err
	}
	r := &peerRun{jobConfig: c, peer: p, group: "firn-bench-" + filepath.Base(m.rooms.root) + "-" +
		filepath.Base(c.folder), bytes: m.sent.Bytes / max(m.sent.Messages, 1)}
	if err := r.prepare(ctx); err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, r.forget(context.WithoutCancel(ctx))) }()
	process, err := r.start(ctx)
	if err != nil {
		return run, err
	}
	limited, stop := context.WithTimeout(ctx, peerRunMax)
	defer stop()
	f, err := follow(limited, process.pid(), r.tableFolder(), m.sent.Messages, process.ended)
	process.stop()
	if ctx.Err() != nil {
		return run, context.Cause(ctx)
	}
	if len(f.commits) == 0 || (err != nil && !errors.Is(err, context.DeadlineExceeded)) {
		return run, fmt.Errorf("it committed %d times: %w%s", len(f.commits), err, process.said())
	}
	return m.peerMeasured(ctx, c, f)
}

func (m *mover) peerMeasured(ctx context.Context, c jobConfig, f followed) (measured, error) {
	files, err := c.files(ctx)
	if err != nil {
		return measured{}, err
	}
	rowMB := float64(m.sent.Bytes) / 1e6 / float64(m.sent.Messages)
	run := measured{peakMiB: f.peakMiB, files: files, commits: len(f.commits)}
	run.mbPerCPUSecond, run.mbPerSecond, run.remark = steadySpeed(f.commits, rowMB)
	run.mbPerCommit = float64(f.commits[len(f.commits)-1].rows) * rowMB / float64(len(f.commits))
	return run, nil
}

// tableFolder is where the table of a run is.
func (c jobConfig) tableFolder() string { return filepath.Join(c.warehouse(), "bench", "messages") }

// peerCache is where the jars of rivals are kept, beside the components of the end-to-end tests.
func peerCache() (string, error) {
	if cache := os.Getenv("XDG_CACHE_HOME"); cache != "" {
		return filepath.Join(cache, "firn-components"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache: %w", err)
	}
	return filepath.Join(home, ".cache", "firn-components"), nil
}

// javaTool is java or javac: that of JAVA_HOME, or the one in the path.
func javaTool(name string) string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", name)
	}
	return name
}

// jarsOf is the class path of what a pom depends on.
func (p *peer) jarsOf(pom string) string { return filepath.Join(p.jars[pom], jarFolder, "*") }

// classPath of folders of jars and of classes.
func classPath(entries ...string) string { return strings.Join(entries, string(os.PathListSeparator)) }

// followable says whether this system tells the CPU time of other processes.
func followable() error {
	if runtime.GOOS != "linux" {
		return errors.New("its CPU time is read from Linux's /proc")
	}
	return nil
}
