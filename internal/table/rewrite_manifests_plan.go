package table

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// regrouping is which manifests of a table are rewritten into which.
type regrouping struct {
	groups   []manifestGroup
	kept     []iceberg.ManifestFile // as they are, those of delete files among them
	keptData int
	empty    int
	progress func(manifests int)
}

// manifestGroup is manifests of one partition spec.
type manifestGroup struct {
	spec      int
	manifests []iceberg.ManifestFile
	bytes     int64
	files     int64 // that are live
	written   int   // manifests that come in their place
}

// planRegrouping reads nothing: what is in the list of manifests is enough.
func (p *producer) planRegrouping(policy RewriteManifestsPolicy) *regrouping {
	r := &regrouping{progress: policy.Progress}
	target := p.targetBytes()
	small := make(map[int]*manifestGroup)
	for _, m := range p.manifests {
		files := int64(m.AddedDataFiles()) + int64(m.ExistingDataFiles())
		switch {
		case m.ManifestContent() != iceberg.ManifestContentData:
			r.kept = append(r.kept, m)
		case files == 0:
			r.empty++
		case m.Length() >= target:
			r.keep(m)
		default:
			spec := int(m.PartitionSpecID())
			if small[spec] == nil {
				small[spec] = &manifestGroup{spec: spec}
			}
			g := small[spec]
			g.manifests, g.bytes, g.files = append(g.manifests, m), g.bytes+m.Length(), g.files+files
		}
	}
	for _, spec := range slices.Sorted(maps.Keys(small)) {
		r.decide(*small[spec], target, policy.Force)
	}
	return r
}

func (r *regrouping) keep(manifests ...iceberg.ManifestFile) {
	r.kept = append(r.kept, manifests...)
	r.keptData += len(manifests)
}

// decide rewrites a group where that makes fewer manifests.
func (r *regrouping) decide(g manifestGroup, target int64, force bool) {
	g.written = int(min((g.bytes+target-1)/target, g.files, int64(len(g.manifests))))
	if g.written == len(g.manifests) && !force {
		r.keep(g.manifests...)
		return
	}
	r.groups = append(r.groups, g)
}

func (r *regrouping) written() (n int) {
	for _, g := range r.groups {
		n += g.written
	}
	return n
}

func (r *regrouping) replaced() int {
	n := r.empty
	for _, g := range r.groups {
		n += len(g.manifests)
	}
	return n
}

func (r *regrouping) files() (n int64) {
	for _, g := range r.groups {
		n += g.files
	}
	return n
}

func (r *regrouping) result(attempts int) RewrittenManifests {
	out := RewrittenManifests{
		Before: r.keptData + r.replaced(), After: r.keptData + r.written(), Replaced: r.replaced(), Written: r.written(),
		Empty: r.empty, Files: r.files(), Attempts: attempts,
	}
	for _, g := range r.groups {
		out.Bytes += g.bytes
	}
	if len(r.groups) == 0 { // manifests without live files go with the next snapshot that has another reason
		out.After, out.Replaced, out.Empty = out.Before, 0, 0
	}
	return out
}

// sortByPartition orders entries by their partition values in the order of the spec's fields, nulls first; those of one
// partition stay in their order.
func (p *producer) sortByPartition(spec int, entries []iceberg.ManifestEntry) error {
	s, err := p.table.spec(spec)
	if err != nil {
		return err
	}
	var ids []int
	for _, f := range s.Fields() {
		ids = append(ids, f.FieldID)
	}
	if len(ids) == 0 {
		return nil
	}
	type keyed struct {
		entry  iceberg.ManifestEntry
		values []any
	}
	all := make([]keyed, len(entries))
	for i, e := range entries {
		values := e.DataFile().Partition()
		all[i].entry = e
		for _, id := range ids {
			all[i].values = append(all[i].values, widened(values[id]))
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return slices.CompareFunc(a.values, b.values, comparePartition) })
	for i := range all {
		entries[i] = all[i].entry
	}
	return nil
}

// widened makes one type of those between which a column may have been promoted.
func widened(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	default:
		return v
	}
}

// comparePartition orders two values of one partition field.
func comparePartition(a, b any) int {
	if a == nil || b == nil {
		return cmp.Compare(bit(a != nil), bit(b != nil))
	}
	switch x := a.(type) {
	case bool:
		return compareAs(x, b, func(x, y bool) int { return cmp.Compare(bit(x), bit(y)) })
	case int64:
		return compareAs(x, b, cmp.Compare[int64])
	case float64:
		return compareAs(x, b, cmp.Compare[float64])
	case iceberg.Date:
		return compareAs(x, b, cmp.Compare[iceberg.Date])
	case iceberg.Time:
		return compareAs(x, b, cmp.Compare[iceberg.Time])
	case iceberg.Timestamp:
		return compareAs(x, b, cmp.Compare[iceberg.Timestamp])
	case iceberg.TimestampNano:
		return compareAs(x, b, cmp.Compare[iceberg.TimestampNano])
	case string:
		return compareAs(x, b, strings.Compare)
	case []byte:
		return compareAs(x, b, slices.Compare[[]byte])
	case uuid.UUID:
		return compareAs(x, b, func(x, y uuid.UUID) int { return slices.Compare(x[:], y[:]) })
	case iceberg.Decimal:
		return compareAs(x, b, func(x, y iceberg.Decimal) int { return x.Val.Cmp(y.Val) })
	case iceberg.DecimalLiteral:
		return compareAs(x, b, func(x, y iceberg.DecimalLiteral) int { return x.Val.Cmp(y.Val) })
	default:
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}
}

// compareAs falls back to the texts where the two values are not of one type, which no spec has.
func compareAs[T any](a T, b any, compare func(a, b T) int) int {
	if y, ok := b.(T); ok {
		return compare(a, y)
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}
