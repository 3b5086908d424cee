package table

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5" //nolint:gosec // what stores tell of an object; nothing secret hangs on it
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go/catalog"
	icebergtable "github.com/apache/iceberg-go/table"
)

// version is one version of a table in an objectCatalog.
type version struct {
	number   int
	gzip     bool // as its name says
	metadata icebergtable.Metadata
	sum      [md5.Size]byte // of the object
}

// key is the name of the version's object below the warehouse. Everyone who builds on one version must put the next
// under the same name, so that the suffix follows from the codec of the version before, not of its own; the first
// version is never compressed.
func (v version) key(ident icebergtable.Identifier) string {
	suffix := ".metadata.json"
	if v.gzip {
		suffix = ".gz" + suffix
	}
	return metadataKey(ident, "v"+strconv.Itoa(v.number)+suffix)
}

// metadataKey is the name of an object in a table's folder of metadata.
func metadataKey(ident icebergtable.Identifier, name string) string {
	return strings.Join(ident, "/") + "/metadata/" + name
}

const codecGzip = icebergtable.MetadataCompressionCodecGzip

func codec(m icebergtable.Metadata) string {
	return m.Properties().Get(icebergtable.MetadataCompressionKey, icebergtable.MetadataCompressionDefault)
}

// versionName is as the specification has it for file systems; foreignName is what all other catalogs write.
var (
	versionName = regexp.MustCompile(`/v([1-9][0-9]{0,17})(\.gz)?\.metadata\.json$`)
	foreignName = regexp.MustCompile(`/[0-9]{5,}-[0-9a-fA-F-]{36}[^/]*\.metadata\.json$`)
)

// newest finds and reads the highest version. The version hint has no say: it may be missing or behind.
func (c *objectCatalog) newest(ctx context.Context, ident icebergtable.Identifier) (version, error) {
	c.mu.Lock()
	known := c.known[strings.Join(ident, ".")]
	c.mu.Unlock()
	v, sum, err := c.highest(ctx, ident, known)
	if err != nil {
		return version{}, err
	}
	// A table that was dropped and made again has other content under the same number.
	if known.number == v.number && known.gzip == v.gzip && bytes.Equal(known.sum[:], sum) {
		return known, nil
	}
	if err := c.read(ctx, ident, known, &v); err != nil {
		return version{}, fmt.Errorf("reading %s: %w", c.uri(v.key(ident)), err)
	}
	c.remember(ident, v)
	return v, nil
}

func (c *objectCatalog) remember(ident icebergtable.Identifier, v version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[strings.Join(ident, ".")] = v
}

// highest gives the number and suffix of the highest version, and what the store says is the MD5 sum of its object, if
// it says so. It goes on from the version known where that is sure, else it lists them. A table that other catalogs or
// other engines wrote to at the same time is ErrUnsafe.
func (c *objectCatalog) highest(
	ctx context.Context, ident icebergtable.Identifier, known version,
) (version, []byte, error) {
	if folder, ok := c.objects.(folderObjects); ok {
		if top, ok := folder.after(ident, known); ok {
			return top, nil, nil
		}
	}
	var top version
	var sum []byte
	twice := false
	err := c.objects.list(ctx, metadataKey(ident, "v"), func(key string, md5 []byte) {
		m := versionName.FindStringSubmatch(key)
		if m == nil {
			return
		}
		number, err := strconv.Atoi(m[1])
		if err != nil || number < top.number {
			return
		}
		twice = number == top.number
		top, sum = version{number: number, gzip: m[2] != ""}, md5
	})
	if err != nil {
		return top, nil, fmt.Errorf("listing the versions of the table: %w", err)
	}
	if twice {
		return top, nil, fmt.Errorf("%w: version %d of the table at %s is there twice, with and without .gz: two engines "+
			"committed at once; delete the one that is not to count", ErrUnsafe, top.number, c.uri(strings.Join(ident, "/")))
	}
	if top.number == 0 {
		return top, nil, c.absent(ctx, ident)
	}
	return top, sum, nil
}

// absent tells a table that is not there from one that belongs to a catalog of another type, which must not get a
// second life here. Names that start with 0 are enough: nobody has committed 10,000 times before losing all else.
func (c *objectCatalog) absent(ctx context.Context, ident icebergtable.Identifier) error {
	foreign := ""
	err := c.objects.list(ctx, metadataKey(ident, "0"), func(key string, _ []byte) {
		if foreignName.MatchString(key) {
			foreign = key
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("looking for metadata of other catalogs: %w", err)
	case foreign != "":
		return fmt.Errorf("%w: %s was written through a catalog of another type: use that one", ErrUnsafe, c.uri(foreign))
	}
	return fmt.Errorf("%w: no metadata at %s", catalog.ErrNoSuchTable, c.uri(metadataKey(ident, "v*.metadata.json")))
}

// read fetches a version. One of the content that is known is not parsed again.
func (c *objectCatalog) read(ctx context.Context, ident icebergtable.Identifier, known version, v *version) error {
	content, err := c.objects.read(ctx, v.key(ident))
	if err != nil {
		return err
	}
	v.sum = md5.Sum(content) //nolint:gosec // see above
	if v.sum == known.sum && v.number == known.number && v.gzip == known.gzip {
		v.metadata = known.metadata
		return nil
	}
	if v.gzip {
		if content, err = unzip(content); err != nil {
			return err
		}
	}
	v.metadata, err = icebergtable.ParseMetadataBytes(content)
	return err
}

// unzip has a limit of its own, since few bytes can grow to very many.
func unzip(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, objectBytesMax+1))
	if err == nil && len(plain) > objectBytesMax {
		err = errTooLarge
	}
	return plain, err
}

// encode gives the content of the version's object.
func (v *version) encode() ([]byte, error) {
	plain, err := json.Marshal(v.metadata)
	if err != nil || !v.gzip {
		return plain, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// check refuses what readers would not find, or what takes the versions out of their folder.
func (v *version) check() error {
	if key := icebergtable.WriteMetadataLocationKey; v.metadata.Properties()[key] != "" {
		return fmt.Errorf("%w: table property %s does not go with a hadoop catalog: remove it", ErrUnsafe, key)
	}
	if name := codec(v.metadata); name != icebergtable.MetadataCompressionCodecNone && name != codecGzip {
		return fmt.Errorf("%w: table property %s is %q: a hadoop catalog knows none and gzip", ErrUnsafe,
			icebergtable.MetadataCompressionKey, name)
	}
	return nil
}
