package bigquery

// What DATE, DATETIME and TIMESTAMP hold: days since 1970-01-01 and microseconds since its start, of 0001-01-01 and of
// the end of 9999-12-31.
const (
	firstDay     = -719162
	lastDay      = 2932896
	microsPerDay = 24 * 60 * 60 * 1_000_000
	firstMicro   = firstDay * microsPerDay
	lastMicro    = (lastDay+1)*microsPerDay - 1
)

// civilTime packs microseconds since midnight as java-bigquerystorage's CivilTimeEncoder does: hours, minutes, seconds,
// and microseconds in 20 bits.
func civilTime(micros int64) uint64 {
	seconds := uint64(micros / 1_000_000)
	return (seconds/3600<<12|seconds/60%60<<6|seconds%60)<<20 | uint64(micros%1_000_000)
}

// civilDatetime packs microseconds since 1970 in the same way, with year, month and day above the hours.
func civilDatetime(micros int64) uint64 {
	days := micros / microsPerDay
	if micros -= days * microsPerDay; micros < 0 {
		micros += microsPerDay
		days--
	}
	year, month, day := civilDate(days)
	return uint64(year)<<46 | uint64(month)<<42 | uint64(day)<<37 | civilTime(micros)
}

// civilDate is the date of a day since 1970-01-01, from year 0 on. Years count from March, so that the leap day is the
// last of a year (H. Hinnant, chrono-compatible low-level date algorithms, civil_from_days).
func civilDate(days int64) (year, month, day int64) {
	const epochDays, eraDays = 719468, 146097
	z := days + epochDays
	era := z / eraDays
	ofEra := z - era*eraDays
	y := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*y + y/4 - y/100)
	m := (5*ofYear + 2) / 153
	day = ofYear - (153*m+2)/5 + 1
	year, month = y+era*400, m+3
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}
