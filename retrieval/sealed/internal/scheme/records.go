package scheme

import "math"

// A record is fetched by an encrypted choice of one column: 1 in that column and 0 in all
// others, at a scale of 2^RecordBits. Four bytes of each word are sent, so that the table of
// errors alone stands between a decrypted word and a byte of the record.
const (
	// RecordBits is the logarithm of the scale of a fetch. The bytes of a record are in the
	// upper 8 bits of a decrypted word, and rounding the lower ones away takes the error off.
	RecordBits = 24
	// RecordPrefix is the number of bytes before a record that say how long it is, the low one
	// first.
	RecordPrefix = 2
	// MaxRecord is how many bytes a padded record may have: 4 KB, and its prefix.
	MaxRecord = 4<<10 + RecordPrefix
	// MaxRecordColumns is how many columns the matrix of records may have, so that no record
	// is decrypted wrongly: see RecordFailure.
	MaxRecordColumns = 1 << 19
	// MaxFetches is how many records a client may fetch in one request.
	MaxFetches = 64
)

// RecordFailure bounds the chance that a record of the given length is decrypted wrongly,
// where the matrix of records has that many columns. An entry of the matrix is at most 128 in
// size, so a row of it is at most 128 sqrt(columns) long, whatever the records are. A byte is
// right while the error of its word is below 2^(RecordBits-1), which it exceeds with a chance of
// at most 2 exp(-t^2/2), t = 2^(RecordBits-1) / (Tau 128 sqrt(columns)). At 2^19 columns a wrong
// record of 4 KB has a chance below 1e-39.
func RecordFailure(columns, length int) float64 {
	t := float64(1<<(RecordBits-1)) / (Tau * 128 * math.Sqrt(float64(columns)))
	return float64(length) * 2 * math.Exp(-t*t/2)
}
