// Package scheme has the parameters of mode sealed and what both sides compute with them: the public
// matrix, streams of AES-256, the table of errors, the scale of queries and the bounds on errors.
// Package retrieval/sealed says how they make a query. Nothing in this package is secret.
package scheme

// The parameters of the scheme. None is negotiated. The law of an entry of the errors of a
// ciphertext is sub-Gaussian: the chance that a sum of entries with weights w is beyond t tau |w|
// is at most 2 exp(-t^2/2).
const (
	// SecretWords is the number of words of a secret, and of a row of a hint.
	SecretWords = 1408
	// Deviation is the standard deviation of the Gaussian that the table of errors rounds.
	Deviation = 6.4
	// Tau is the sub-Gaussian parameter of the table.
	Tau = 6.4066
	// DroppedBits are the lower bits of a word of a probe that are rounded away.
	DroppedBits = 8
)
