package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	icebergtable "github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// folderObjects is the files below a folder of this machine, or of a file system that several machines share. What is
// put is written under a name of its own first, so that nobody reads half of it; then a hard link gives it its name if
// that is free, which POSIX makes atomic, on NFS too.
type folderObjects struct {
	folder string // absolute
}

func (o folderObjects) close() error { return nil }

func (o folderObjects) path(key string) string {
	return filepath.Join(o.folder, filepath.FromSlash(key))
}

func (o folderObjects) read(_ context.Context, key string) ([]byte, error) {
	info, err := os.Stat(o.path(key)) //nolint:gosec // firn names the files, below a folder that the job names
	if err != nil {
		return nil, err
	}
	if info.Size() > objectBytesMax {
		return nil, errTooLarge
	}
	return os.ReadFile(o.path(key)) //nolint:gosec // see above
}

func (o folderObjects) list(_ context.Context, prefix string, each func(key string, md5 []byte)) error {
	at := strings.LastIndexByte(prefix, '/') + 1
	folder, name := prefix[:at], prefix[at:]
	entries, err := os.ReadDir(o.path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), name) && !entry.IsDir() {
			each(folder+entry.Name(), nil)
		}
	}
	return nil
}

// after is the version that a walk from a known one ends at, or false where only a list of all can tell. To list a
// folder costs as much as all files that are in it, manifests included, and a job does so several times a commit.
// Versions are deleted from the oldest on: while the one before the known one is there, none after it has been. None
// may be there under both its names.
func (o folderObjects) after(ident icebergtable.Identifier, known version) (version, bool) {
	if known.number < 2 {
		return version{}, false
	}
	var top version
	for n := known.number - 1; ; n++ {
		plain, packed := version{number: n}, version{number: n, gzip: true}
		switch isPlain, isPacked := o.exists(plain.key(ident)), o.exists(packed.key(ident)); {
		case isPlain && isPacked:
			return version{}, false
		case isPlain:
			top = plain
		case isPacked:
			top = packed
		default:
			return top, top.number >= known.number
		}
	}
}

// exists is false where that is not sure.
func (o folderObjects) exists(key string) bool {
	_, err := os.Lstat(o.path(key)) //nolint:gosec // as in read
	return err == nil
}

func (o folderObjects) replace(_ context.Context, key string, content []byte) error {
	return o.put(key, content, os.Rename)
}

func (o folderObjects) create(_ context.Context, key string, content []byte) error {
	return o.put(key, content, os.Link)
}

// put writes a draft beside the file and names it. A draft that a crash leaves is an orphan file as any other.
func (o folderObjects) put(key string, content []byte, name func(from, to string) error) error {
	to := o.path(key)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // other engines read the table
		return err
	}
	draft := filepath.Join(filepath.Dir(to), "."+uuid.NewString()+".draft")
	err := os.WriteFile(draft, content, 0o644) //nolint:gosec // see above
	if err == nil {
		err = name(draft, to)
	}
	removeErr := os.Remove(draft) //nolint:gosec // see above
	if removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) && err == nil {
		return fmt.Errorf("%s is there, its draft stays: %w", key, removeErr)
	}
	return err
}

func (o folderObjects) honoursConditions(ctx context.Context, key string) (bool, error) {
	for range 2 {
		switch err := o.create(ctx, key, probeText); {
		case errors.Is(err, fs.ErrExist):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("a hadoop catalog needs a file system with hard links, else use a sql catalog: %w", err)
		}
	}
	return false, nil
}
