package table

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// removedFile is a file that no snapshot needs, as a line of a list.
type removedFile struct {
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes,omitempty"`
}

// Kinds of files.
const (
	kindData       = "data"
	kindDeletes    = "deletes"
	kindManifest   = "manifest"
	kindList       = "manifest-list"
	kindStatistics = "statistics"
)

func count(files []removedFile) RemovedFiles {
	var n RemovedFiles
	for _, f := range files {
		n.add(f)
	}
	return n
}

func (f *RemovedFiles) add(one removedFile) {
	f.Bytes += one.Bytes
	switch one.Kind {
	case kindData:
		f.Data++
	case kindDeletes:
		f.Deletes++
	case kindManifest:
		f.Manifests++
	case kindList:
		f.Lists++
	default:
		f.Statistics++
	}
}

// Beginnings of the names of lists. A pending list was written before a commit of which nothing is known; the files of
// a removed list certainly are needed by nothing since the time in its name.
const (
	listPending = "firn-expiring-"
	listRemoved = "firn-removed-"
	listPrefix  = "firn-" // of both
)

// removedList is a list of removed files in the store.
type removedList struct {
	path string
	name string
	kind string // listPending or listRemoved
	at   time.Time
}

func newList(kind string) removedList {
	now := time.Now()
	name := fmt.Sprintf("%s%d-%s.json.gz", kind, now.UnixMilli(), uuid.NewString())
	return removedList{name: name, kind: kind, at: now}
}

var listName = regexp.MustCompile(`(?:^|/)((firn-expiring-|firn-removed-)(\d{1,15})-[0-9a-f-]{36}\.json\.gz)$`)

// parseList knows a list by its path.
func parseList(path string) (removedList, bool) {
	m := listName.FindStringSubmatch(path)
	if m == nil {
		return removedList{}, false
	}
	ms, err := strconv.ParseInt(m[3], 10, 64)
	return removedList{path: path, name: m[1], kind: m[2], at: time.UnixMilli(ms)}, err == nil
}

// listHead is the first line of a list.
type listHead struct {
	Version   int     `json:"version"`
	Table     string  `json:"table"`     // UUID
	Snapshots []int64 `json:"snapshots"` // that went
	Files     int     `json:"files"`     // lines that follow
}

const listVersion = 1

func encodeList(head listHead, files []removedFile) ([]byte, error) {
	var content bytes.Buffer
	w := gzip.NewWriter(&content)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	err := lines.Encode(head)
	for _, f := range files {
		err = errors.Join(err, lines.Encode(f))
	}
	err = errors.Join(err, w.Close())
	return content.Bytes(), err
}

// writeList stores a list for the snapshots, and gives it with its content.
func (k *Committer) writeList(
	ctx context.Context, t *Table, l removedList, snapshots []int64, files []removedFile,
) (removedList, []byte, error) {
	head := listHead{Version: listVersion, Table: t.UUID(), Snapshots: snapshots, Files: len(files)}
	content, err := encodeList(head, files)
	if err != nil {
		return l, nil, err
	}
	l, err = k.storeList(ctx, t, l, content)
	return l, content, err
}

func (k *Committer) storeList(ctx context.Context, t *Table, l removedList, content []byte) (removedList, error) {
	locations, err := t.inner.LocationProvider()
	if err != nil {
		return l, fmt.Errorf("choosing the place of %s: %w", l.name, err)
	}
	l.path = locations.NewMetadataLocation(l.name)
	w, err := k.files.Create(ctx, l.path)
	if err != nil {
		return l, err
	}
	_, err = w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		return l, fmt.Errorf("writing %s: %w", l.path, err)
	}
	return l, nil
}

// dropList deletes a list that is done with. One that stays is looked at again.
func (k *Committer) dropList(ctx context.Context, l removedList) {
	if err := k.files.Remove(ctx, l.path); err != nil {
		k.log.Debug("a list of removed files stays", "list", l.path, "error", err)
		return
	}
	k.lists.forget(l)
}

// listReader reads a list line by line.
type listReader struct {
	head  listHead
	path  string
	file  io.Closer
	gzip  *gzip.Reader
	lines *json.Decoder
}

// errList is for a list that cannot be understood, as one has been seen that was being written in a crash.
var errList = errors.New("it is not a whole list of removed files")

// openList reads the head of a list. A missing list is fs.ErrNotExist.
func openList(ctx context.Context, files Store, path string) (*listReader, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	r := &listReader{path: path, file: f}
	if r.gzip, err = gzip.NewReader(f); err == nil {
		r.lines = json.NewDecoder(r.gzip)
		err = r.lines.Decode(&r.head)
	}
	switch {
	case err != nil:
		err = listFault(path, err)
	case r.head.Version != listVersion:
		err = fmt.Errorf("reading %s: %w: its version is %d", path, errList, r.head.Version)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// listFault tells a list that is not whole from one that could not be fetched.
func listFault(path string, err error) error {
	syntax, wrong := new(json.SyntaxError), new(json.UnmarshalTypeError)
	if errors.As(err, &syntax) || errors.As(err, &wrong) || errors.Is(err, gzip.ErrHeader) ||
		errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", errList, err)
	}
	return fmt.Errorf("reading %s: %w", path, err)
}

// next gives a line, and io.EOF behind the last.
func (r *listReader) next() (removedFile, error) {
	var f removedFile
	err := r.lines.Decode(&f)
	switch {
	case errors.Is(err, io.EOF):
		return f, io.EOF
	case err != nil:
		return f, listFault(r.path, err)
	case f.Path == "":
		return f, fmt.Errorf("reading %s: %w: a line has no path", r.path, errList)
	}
	return f, nil
}

// all gives what is left of the list.
func (r *listReader) all() ([]removedFile, error) {
	files := make([]removedFile, 0, min(max(r.head.Files, 0), goneFilesMax))
	for {
		f, err := r.next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
}

func (r *listReader) close() error { return errors.Join(r.gzip.Close(), r.file.Close()) }

// knownLists is the lists that were seen in the store. The zero value has looked at nothing.
type knownLists struct {
	byName    map[string]removedList
	done      map[string]int // files at the beginning of a list that are deleted
	lookedAt  time.Time      // at the store
	restUntil time.Time      // after a fault
}

func (n *knownLists) add(l removedList) {
	if n.byName == nil {
		n.byName, n.done = make(map[string]removedList), make(map[string]int)
	}
	n.byName[l.name] = l
}

func (n *knownLists) forget(l removedList) {
	delete(n.byName, l.name)
	delete(n.done, l.name)
}
