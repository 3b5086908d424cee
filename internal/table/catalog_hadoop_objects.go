package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// objects is where a hadoop catalog keeps its versions. Keys are relative to the warehouse. It is safe for concurrent
// use.
type objects interface {
	// read gives at most objectBytesMax bytes.
	read(ctx context.Context, key string) ([]byte, error)
	// list calls each for all objects whose keys start so, with the MD5 sum where the store tells it.
	list(ctx context.Context, prefix string, each func(key string, md5 []byte)) error
	// replace puts an object whether it is there or not.
	replace(ctx context.Context, key string, content []byte) error
	// create puts an object that must not be there yet, else it is fs.ErrExist. With any other error it may be there
	// now, or later. The content must be like no other's, as metadata with its times and random ids is.
	create(ctx context.Context, key string, content []byte) error
	// honoursConditions puts an object twice on the condition that it is not there. It stays, so that later the first
	// put shows it.
	honoursConditions(ctx context.Context, key string) (bool, error)
	close() error
}

// bucketObjects is the objects of a bucket below a prefix.
type bucketObjects struct {
	bucket *blob.Bucket
	prefix string // without slashes at its ends; empty for the whole bucket
}

func (o bucketObjects) close() error { return o.bucket.Close() }

func (o bucketObjects) key(key string) string { return strings.TrimPrefix(o.prefix+"/"+key, "/") }

// objectBytesMax bounds what is read at once. A metadata.json of 100,000 snapshots has some 100 MB.
const objectBytesMax = 1 << 30

var errTooLarge = fmt.Errorf("there are more than %d bytes", objectBytesMax)

func (o bucketObjects) read(ctx context.Context, key string) ([]byte, error) {
	r, err := o.bucket.NewReader(ctx, o.key(key), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	if r.Size() > objectBytesMax {
		return nil, errTooLarge
	}
	return io.ReadAll(r)
}

func (o bucketObjects) list(ctx context.Context, prefix string, each func(key string, md5 []byte)) error {
	for page := o.bucket.List(&blob.ListOptions{Prefix: o.key(prefix)}); ; {
		object, err := page.Next(ctx)
		if err == io.EOF { //nolint:errorlint // a connection that is cut has io.EOF within, and is not the end of the list
			return nil
		}
		if err != nil {
			return err
		}
		each(strings.TrimPrefix(strings.TrimPrefix(object.Key, o.prefix), "/"), object.MD5)
	}
}

func (o bucketObjects) replace(ctx context.Context, key string, content []byte) error {
	return o.bucket.WriteAll(ctx, o.key(key), content, &blob.WriterOptions{ContentType: "text/plain"})
}

func (o bucketObjects) create(ctx context.Context, key string, content []byte) error {
	options := &blob.WriterOptions{ContentType: "application/json", IfNotExist: true}
	err := o.bucket.WriteAll(ctx, o.key(key), content, options)
	if err == nil {
		return nil
	}
	// The client repeats a request by itself, so that what stands in the way may be the object itself.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	found, lookErr := o.read(ctx, key)
	switch {
	case lookErr == nil && bytes.Equal(found, content):
		return nil
	case lookErr == nil:
		return fs.ErrExist
	case gcerrors.Code(lookErr) == gcerrors.NotFound:
		return err
	default:
		return errors.Join(err, lookErr)
	}
}

var probeText = []byte("firn puts this object on the condition that it does not exist, to see that the store honours " +
	"it.\n")

// lookTimeout is for one small read after a put that went wrong, also when the time for the put is over.
const lookTimeout = 10 * time.Second

func (o bucketObjects) honoursConditions(ctx context.Context, key string) (bool, error) {
	for range 2 {
		err := o.bucket.WriteAll(ctx, o.key(key), probeText, &blob.WriterOptions{ContentType: "text/plain", IfNotExist: true})
		switch {
		case gcerrors.Code(err) == gcerrors.FailedPrecondition:
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}
