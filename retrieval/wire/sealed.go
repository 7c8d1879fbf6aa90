package wire

// The messages of mode sealed.
const (
	kindSealedManifest kind = 32 + iota
	kindSealedHint
	kindSealedIDs
	kindSealedRequest
	kindSealedAnswer
	kindSealedChanges
	kindSealedRecords
)

const sealedVersion = 1

// EmptySlot is the norm of a slot without a row.
const EmptySlot = -1 << 15

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
