package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// folders has a new folder for each run. All stay until the end of the benchmark: ext4 is slow to make files for a
// minute and more after many were deleted (it does not use their inodes again at once, and looks for others one by
// one), a millisecond each as measured, and the next runs would pay for it. One goroutine owns it.
type folders struct {
	root string
	made int
}

func newFolders() (*folders, error) {
	root, err := os.MkdirTemp("", "firn-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the tables: %w", err)
	}
	return &folders{root: root}, nil
}

// next makes a folder.
func (f *folders) next() (string, error) {
	f.made++
	folder := filepath.Join(f.root, strconv.Itoa(f.made))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for a table: %w", err)
	}
	return folder, nil
}

// empty gives the space of the files in a folder back, and keeps the files.
func (f *folders) empty(folder string) error {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return os.Truncate(path, 0)
	})
	if err != nil {
		return fmt.Errorf("emptying the files of a run: %w", err)
	}
	return nil
}

// remove deletes all folders.
func (f *folders) remove() error {
	if err := os.RemoveAll(f.root); err != nil {
		return fmt.Errorf("deleting the tables that were measured: %w", err)
	}
	return nil
}
