package decode

import "slices"

// postponed is the fault of a value that is valid JSON and none of its column's. A later value of the same key may
// replace it, so that the record is rejected only at the end of the object that the key is in.
type postponed struct {
	depth   int    // of that object
	field   *field // of a struct's key
	ordinal int    // of a map's entry
	fault   fault
}

// postpone notes the fault at hand and steps over the value at p that has it. It is -1 when that is no JSON; the fault
// at hand is then the one from before.
func (d *JSON) postpone(path string, late postponed, p int) int {
	if d.options.RejectDuplicateKeys {
		return -1
	}
	late.fault = d.fault
	end := d.skip(path, late.depth, p)
	if end < 0 {
		d.fault = late.fault
		return -1
	}
	d.dropPostponed(late.depth + 1) // what is inside of the value
	d.postponed = append(d.postponed, late)
	return end
}

// postponeMember is postpone for the value of a struct's key.
func (d *JSON) postponeMember(o *object, f *field, p, row int) int {
	if f.seen == ignored {
		return -1
	}
	end := d.postpone(o.path, postponed{depth: o.depth, field: f}, p)
	if end >= 0 {
		clearValue(f.col, row)
	}
	return end
}

// postponeEntry is postpone for the value of a map's entry, the last element of its column.
func (d *JSON) postponeEntry(f *field, ordinal, p int) int {
	end := d.postpone(f.path, postponed{depth: f.depth, ordinal: ordinal}, p)
	if end >= 0 {
		clearValue(f.element.col, f.element.col.Len-1)
	}
	return end
}

// forgive drops the fault of a field that has another value now.
func (d *JSON) forgive(f *field) {
	d.postponed = slices.DeleteFunc(d.postponed, func(p postponed) bool { return p.field == f })
}

// unforgiven tells whether a fault of the object of that depth is left, and makes the first one the fault at hand.
func (d *JSON) unforgiven(depth int) bool {
	left := d.dropPostponed(depth)
	if len(left) > 0 {
		d.fault = left[0].fault
	}
	return len(left) > 0
}

// dropPostponed drops the faults from that depth on, which are the last ones, and returns them; they are good until
// the next fault.
func (d *JSON) dropPostponed(depth int) []postponed {
	n := len(d.postponed)
	for n > 0 && d.postponed[n-1].depth >= depth {
		n--
	}
	dropped := d.postponed[n:]
	d.postponed = d.postponed[:n]
	return dropped
}
