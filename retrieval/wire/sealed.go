package wire

// The messages of mode sealed.
const (
	KindSealedManifest Kind = 32 + iota
	KindSealedHint
	KindSealedIDs
	KindSealedRequest
	KindSealedAnswer
	KindSealedChanges
	KindSealedRecords
)

const sealedVersion = 1

// Limits of messages of mode sealed. The parameters of the scheme are in package retrieval/sealed.
const (
	// MaxSealedColumns is how many words a ciphertext may have.
	MaxSealedColumns = 1 << 26
	// MaxCiphertexts is how many ciphertexts a request may have.
	MaxCiphertexts = 1 << 12
	// MaxSlots is how many slots a gallery or a set of records may have.
	MaxSlots = MaxRows
	// EmptySlot is the norm of a slot without a row.
	EmptySlot = -1 << 15
)

// mostSealed is how many bytes the numbers of a message may take. The rest of a body is shorter
// than what that leaves.
const mostSealed = maxMessage - 1<<10

// checkCount refuses a number outside of 1 to most.
func checkCount(field string, n, most int) error {
	if n < 1 || n > most {
		return refuse(field, "%d, want 1 to %d", n, most)
	}
	return nil
}

// checkProduct refuses a slice that does not have rows times columns entries.
func checkProduct(field string, have, rows, columns int) error {
	if uint64(have) != uint64(rows)*uint64(columns) {
		return refuse(field, "%d entries for %d times %d", have, rows, columns)
	}
	return nil
}
