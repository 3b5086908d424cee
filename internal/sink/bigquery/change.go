package bigquery

// change appends the value of a pseudo-column.
func (e *Encoder) change(buf []byte, c *column, row int) []byte {
	v := c.col.Bytes[row]
	switch {
	case c.op == opChangeType && string(v) != "UPSERT" && string(v) != "DELETE":
		e.bad(c, "it is neither UPSERT nor DELETE")
	case c.op == opChangeSequence && !isSequenceNumber(v):
		e.bad(c, "it is not one to four sections of up to 16 hexadecimal digits with a / between them")
	}
	return c.appendBytes(buf, v)
}

// isSequenceNumber tells whether v is a _CHANGE_SEQUENCE_NUMBER: one to four hexadecimal numbers with a slash between
// them, each from 0 to FFFFFFFFFFFFFFFF.
func isSequenceNumber(v []byte) bool {
	const sectionsMax, digitsMax = 4, 16
	sections, digits := 1, 0
	for _, b := range v {
		switch {
		case b-'0' <= 9 || b|0x20 >= 'a' && b|0x20 <= 'f':
			if digits++; digits > digitsMax {
				return false
			}
		case b == '/' && digits > 0:
			digits = 0
			if sections++; sections > sectionsMax {
				return false
			}
		default:
			return false
		}
	}
	return digits > 0
}
