package sealed

import "github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"

// What messages are measured by. Package retrieval/sealed/internal/scheme has all parameters.
const (
	// SecretWords is the number of words of a secret, and of a row of a hint.
	SecretWords = scheme.SecretWords
	// MaxRecord is how many bytes a padded record may have: 4 KB, and its prefix.
	MaxRecord = scheme.MaxRecord
	// MaxRecordColumns is how many columns the matrix of records may have, so that no record
	// is decrypted wrongly.
	MaxRecordColumns = scheme.MaxRecordColumns
	// MaxFetches is how many records a client may fetch in one request.
	MaxFetches = scheme.MaxFetches
)
