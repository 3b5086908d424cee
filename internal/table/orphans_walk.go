package table

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/io/gocloud/blobfs"
	"gocloud.dev/blob"
)

// storedFile is a file as the store lists it.
type storedFile struct {
	path    string
	bytes   int64
	changed time.Time
}

// walk lists the files below a folder whose path from there on begins so; an empty beginning is all. In an object
// store it asks for pages of names and holds one page.
func walk(ctx context.Context, fio icebergio.IO, folder, beginning string, each func(storedFile) error) error {
	folder = strings.TrimRight(folder, "/") + "/"
	if bucket, ok := fio.(*blobfs.FileIO); ok {
		return walkBucket(ctx, bucket, folder, beginning, each)
	}
	files, ok := fio.(icebergio.ListableIO)
	if !ok {
		return fmt.Errorf("listing %s: the store is a %T, which cannot list", folder, fio)
	}
	return walkFolder(ctx, files, folder, beginning, each)
}

func walkBucket(
	ctx context.Context, bucket *blobfs.FileIO, folder, beginning string, each func(storedFile) error,
) error {
	scheme, rest, _ := strings.Cut(folder, "://")
	authority, key, ok := strings.Cut(rest, "/")
	if !ok {
		return fmt.Errorf("listing %s: it is no URL of a folder in an object store", folder)
	}
	root := scheme + "://" + authority + "/"
	for page := bucket.List(&blob.ListOptions{Prefix: key + beginning}); ; {
		object, err := page.Next(ctx)
		if err == io.EOF { //nolint:errorlint // a connection that is cut has io.EOF within, and is not the end of the list
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", folder, err)
		}
		if strings.HasSuffix(object.Key, "/") {
			continue // some tools mark folders so
		}
		if err := each(storedFile{root + object.Key, object.Size, object.ModTime}); err != nil {
			return err
		}
	}
}

func walkFolder(
	ctx context.Context, files icebergio.ListableIO, folder, beginning string, each func(storedFile) error,
) error {
	root := ""
	err := files.WalkDir(folder, func(at string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if root == "" {
			root = strings.TrimRight(at, "/") + "/"
		}
		if missing(err) {
			return nil // deleted meanwhile, or nothing was ever written
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(at, root)
		if entry.IsDir() {
			if beginning != "" && name != "" && at+"/" != root && !strings.HasPrefix(name, beginning) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasPrefix(name, beginning) || !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if missing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(storedFile{at, info.Size(), info.ModTime()})
	})
	if err != nil {
		return fmt.Errorf("listing %s: %w", folder, err)
	}
	return nil
}

// pathKey is what the spellings of one file's path have in common: s3://bucket/x, s3a://bucket/x, file:/x, file:///x
// and /x are /x. Two files of different stores may have one key, so that it is good only for keeping files: one that
// has the key of a needed file is kept.
func pathKey(location string) string {
	if _, rest, ok := strings.Cut(location, "://"); ok {
		_, location, _ = strings.Cut(rest, "/")
	} else {
		location = strings.TrimPrefix(location, "file:")
	}
	return path.Clean("/" + location)
}

// withoutChecksum is the key of the file that a file of checksums belongs to: beside a file x Hadoop's local file
// system puts .x.crc, without which it does not read x.
func withoutChecksum(key string) string {
	folder, name := path.Split(key)
	file, dotted := strings.CutPrefix(name, ".")
	if file, sums := strings.CutSuffix(file, ".crc"); dotted && sums {
		return folder + file
	}
	return key
}
