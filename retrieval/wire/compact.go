package wire

import (
	"encoding/binary"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// Compact holds rows in a byte an entry and four more a row. What a rotated row R x is away from its anchor, rotated some more times, is
//
//	R^turn (R x - anchor) = Codebook.Unit(step) * codes,
//
// each entry within half a unit of what the gallery has. Rotations change no distance, so that
// for a query q
//
//	|q - x| = |R^turn (R q - anchor) - Codebook.Unit(step) * codes|.
type Compact struct {
	Anchors []uint16 // turn * Codebook.AnchorCount() + anchor of each row; see Codebook.Place
	Steps   []uint16 // the step of each row
	Codes   []int8   // one row behind the other, entries -MaxCode to MaxCode
}

// Place returns the anchor, rotated once, and the turn that an entry of
// Compact.Anchors stands for: nil where the codebook has no such anchor.
func (c *Codebook) Place(entry uint16) (anchor []float32, turn int) {
	count := c.AnchorCount()
	if count < 1 || int(entry) >= limits.Turns*count {
		return nil, 0
	}
	at := int(entry) % count * c.Ranking
	return c.Anchors[at : at+c.Ranking], int(entry) / count
}

// Unit returns by how much a code of 1 is above one of 0 in a row with that step:
// Scale * step / limits.Steps.
func (c *Codebook) Unit(step uint16) float64 {
	return float64(c.Scale) * float64(step) / limits.Steps
}

func (c *Compact) empty() bool { return len(c.Anchors)+len(c.Steps)+len(c.Codes) == 0 }

// check looks at n rows. Whether their anchors exist is for those who have the codebook.
func (c *Compact) check(dimension, n int) error {
	if err := checkDimension(dimension); err != nil {
		return err
	}
	switch {
	case len(c.Anchors) != n || len(c.Steps) != n:
		return refuse("anchors", "%d, and %d steps, for %d rows", len(c.Anchors), len(c.Steps), n)
	case uint64(len(c.Codes)) != uint64(n)*uint64(dimension):
		return refuse("codes", "%d for %d rows of dimension %d", len(c.Codes), n, dimension)
	case !allCodes(c.Codes):
		return refuse("codes", "one is below %d", -limits.MaxCode)
	}
	return nil
}

// allCodes reports whether no entry is -128, the one number of 8 bits that is no code: each
// row has one compact form.
func allCodes(v []int8) bool {
	const low, high = 0x0101_0101_0101_0101, 0x8080_8080_8080_8080
	var found uint64
	b := bytesOf(v)
	for ; len(b) >= 8; b = b[8:] {
		// What is 0 in x is -128 in v. The lowest 0 of x sets its high bit here, and
		// without a 0 no bit is set.
		x := binary.NativeEndian.Uint64(b) ^ high
		found |= (x - low) &^ x & high
	}
	for _, c := range v[len(v)-len(b):] {
		if c < -limits.MaxCode {
			return false
		}
	}
	return found == 0
}
