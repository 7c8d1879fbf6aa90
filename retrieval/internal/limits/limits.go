// Package limits has the largest numbers that messages between clients and servers may hold.
// Package wire refuses what is beyond them.
package limits

import "math"

// Limits of the messages of mode cells.
const (
	MaxCells     = 1 << 20       // centres of a codebook
	MaxDimension = 1 << 16       // of a space
	MaxRows      = math.MaxInt32 // of a gallery
)

// Limits of the messages of mode sealed. The parameters of the scheme are in package
// retrieval/sealed.
const (
	// MaxSealedColumns is how many words a ciphertext may have.
	MaxSealedColumns = 1 << 26
	// MaxCiphertexts is how many ciphertexts a request may have.
	MaxCiphertexts = 1 << 12
	// MaxSlots is how many slots a gallery or a set of records may have.
	MaxSlots = MaxRows
)

// Steps is the number of the largest step of a compact row.
const Steps = math.MaxUint16

// MaxCode is the largest code of a compact row, and -MaxCode the least.
const MaxCode = math.MaxInt8

// Turns is how many times what a row is away from its anchor may have been rotated, from 0
// to Turns-1: as often as makes its largest entry, and with it the unit, smallest.
const Turns = 8

// MaxAnchors is how many anchors a codebook may have.
const MaxAnchors = (math.MaxUint16 + 1) / Turns

// LabelBytes returns how long the labels of that many rows may be as JSON.
func LabelBytes(rows int) int64 {
	const label, names = 12, 64 << 20
	return label*int64(rows) + names
}
