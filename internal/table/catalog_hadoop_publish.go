package table

import (
	"context"
	"crypto/md5" //nolint:gosec // what stores tell of an object; nothing secret hangs on it
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	icebergtable "github.com/apache/iceberg-go/table"
)

// publish puts a version that was built on the one before it. That another has it already is the error taken.
func (c *objectCatalog) publish(ctx context.Context, ident icebergtable.Identifier, v version, taken error) error {
	if err := v.check(); err != nil {
		return err
	}
	content, err := v.encode()
	if err != nil {
		return fmt.Errorf("encoding the metadata: %w", err)
	}
	switch err := c.objects.create(ctx, v.key(ident), content); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: another writer has put %s", taken, c.uri(v.key(ident)))
	case err != nil:
		return fmt.Errorf("putting %s: %w", c.uri(v.key(ident)), err)
	}
	v.sum = md5.Sum(content) //nolint:gosec // see above
	c.remember(ident, v)
	if err := c.verify(ctx, ident, v); err != nil {
		return err
	}
	c.hint(ctx, ident, v.number)
	return nil
}

// verify makes sure that a version which was put is, or was, the head. Its name may have been free because the one
// that had it was deleted as too old, while this writer slept. There are higher versions then, and they do not descend
// from it. Where that cannot be told, the outcome of the commit is unknown.
func (c *objectCatalog) verify(ctx context.Context, ident icebergtable.Identifier, v version) error {
	top, err := c.newest(ctx, ident)
	if err != nil {
		return fmt.Errorf("looking whether %s is the newest version: %w", c.uri(v.key(ident)), err)
	}
	if top.number == v.number && top.sum == v.sum {
		return nil
	}
	for entry := range top.metadata.PreviousFiles() {
		if entry.MetadataFile == c.uri(v.key(ident)) && entry.TimestampMs == v.metadata.LastUpdatedMillis() {
			return nil
		}
	}
	return fmt.Errorf("version %d was put, and version %d does not name it as one before it", v.number, top.number)
}

// hintTimeout is short: readers that need the hint see the last but one version if it fails.
const hintTimeout = 5 * time.Second

// hint names the newest version for readers that do not list, such as DuckDB. Two writers may leave the lower number,
// and a store may refuse to replace an object more often than each second (GCS).
func (c *objectCatalog) hint(ctx context.Context, ident icebergtable.Identifier, number int) {
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	err := c.objects.replace(ctx, metadataKey(ident, "version-hint.text"), []byte(strconv.Itoa(number)))
	if err != nil {
		c.log.Debug("the version hint is behind", "version", number, "error", err)
	}
}

// requireConditions makes sure, before the first put of this process, that the store honours the condition of a put.
// It leaves one small object in the table's folder.
func (c *objectCatalog) requireConditions(ctx context.Context, ident icebergtable.Identifier) error {
	c.mu.Lock()
	seen := c.conditional
	c.mu.Unlock()
	if seen {
		return nil
	}
	switch honoured, err := c.objects.honoursConditions(ctx, metadataKey(ident, "firn-probe")); {
	case err != nil:
		return fmt.Errorf("checking that the store honours conditional puts: %w", err)
	case !honoured:
		return fmt.Errorf("%w: the store of %s replaced an object that it was told not to replace, so that two writers "+
			"could overwrite each other's commits: use a rest catalog", ErrUnsafe, c.warehouse)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conditional = true
	return nil
}
