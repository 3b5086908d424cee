package parquet

import "firn/internal/record"

// describe fills what Iceberg's metadata say of the joined file: counts from the footers, and bounds and NaN counts
// from what was said of the parts.
func (j *joiner) describe() {
	n := len(j.layout.leaves)
	d := &j.result.File
	d.SchemaID, d.Rows = j.layout.schemaID, j.rows
	d.ColumnSizes, d.ValueCounts = make(map[int]int64, n), make(map[int]int64, n)
	d.NullValueCounts, d.NaNValueCounts = make(map[int]int64, n), map[int]int64{}
	d.LowerBounds, d.UpperBounds = make(map[int][]byte, n), make(map[int][]byte, n)
	for i := range j.layout.leaves {
		j.describeLeaf(d, i)
	}
}

func (j *joiner) describeLeaf(d *record.DataFile, i int) {
	l := &j.layout.leaves[i]
	metrics, ok := j.options.ColumnMetrics[l.id]
	if !ok {
		metrics = j.options.Metrics
	}
	if metrics.Mode == MetricsNone {
		return
	}
	size, values := int64(0), int64(0)
	for g := range j.chunks {
		size += j.chunks[g][i].size
		values += j.chunks[g][i].values
	}
	d.ColumnSizes[l.id], d.ValueCounts[l.id] = size, values
	var low, high boundJoin
	nulls, nullsKnown, nans, nansKnown := int64(0), true, int64(0), l.order == orderFloat
	for k := range j.parts {
		t := j.parts[k].total(i, l)
		nulls, nullsKnown = nulls+t.nulls, nullsKnown && t.nullsKnown
		nans, nansKnown = nans+t.nans, nansKnown && t.nansKnown
		if t.nullsKnown && t.values-t.nulls == t.nans {
			continue // nothing that has bounds
		}
		low.take(t.low, -1, l.compareSingle)
		high.take(t.high, 1, l.compareSingle)
	}
	if nullsKnown {
		d.NullValueCounts[l.id] = nulls
	}
	if nansKnown {
		d.NaNValueCounts[l.id] = nans
	}
	if l.repeated || metrics.Mode == MetricsCounts {
		return // as in File.describeLeaf
	}
	if b := low.known(); b != nil {
		d.LowerBounds[l.id] = b
	}
	if b := high.known(); b != nil {
		d.UpperBounds[l.id] = b
	}
}

// partTotal is what is known of a leaf's values in a part.
type partTotal struct {
	values, nulls, nans   int64
	nullsKnown, nansKnown bool
	low, high             []byte
}

func (p *joinPart) total(i int, l *leafType) partTotal {
	t := partTotal{nullsKnown: true}
	if p.leaves[i] < 0 {
		first, step := p.lineage(l.id, 0)
		if t.values = p.footer.Rows; t.values > 0 {
			t.low, t.high = longBytes(first), longBytes(first+step*(t.values-1))
		}
		return t
	}
	for g := range p.footer.groups {
		c := &p.footer.groups[g].chunks[p.leaves[i]]
		nulls, known := c.nulls(l)
		t.values, t.nulls, t.nullsKnown = t.values+c.values, t.nulls+nulls, t.nullsKnown && known
	}
	if !t.nullsKnown {
		t.nulls, t.nullsKnown = p.File.NullValueCounts[l.id], has(p.File.NullValueCounts, l.id)
	}
	t.nans, t.nansKnown = p.File.NaNValueCounts[l.id], has(p.File.NaNValueCounts, l.id) || t.values == 0
	t.low, t.high = p.File.LowerBounds[l.id], p.File.UpperBounds[l.id]
	return t
}

func has(counts map[int]int64, id int) bool {
	_, ok := counts[id]
	return ok
}
