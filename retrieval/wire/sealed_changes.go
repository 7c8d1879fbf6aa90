package wire

import (
	"cmp"
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// SealedChanges take a client from one version of an epoch to a later one: the rows of the
// hint and the slots that differ.
type SealedChanges struct {
	Epoch   Hash     // of the manifest they go with
	Since   uint64   // the version of the client
	Version uint64   // the version after the changes
	Rows    []uint32 // of the hint, rising
	Words   []uint32 // len(Rows) x sealed.SecretWords: those rows at Version
	Names   []uint32 // of the slots, rising
	Norms   []int16  // of those slots; EmptySlot where there is no row any more
	IDs     []uint32 // row numbers of those slots; Padding where there is none
}

// Check returns nil, or an *Error for the first field that is wrong.
func (c *SealedChanges) Check() error {
	switch {
	case c.Version < c.Since:
		return refuse("version", "%d, and changes are since %d", c.Version, c.Since)
	case !risingRows(c.Rows):
		return refuse("rows", "want rising numbers below %d", limits.MaxRows)
	case !risingRows(c.Names):
		return refuse("names", "want rising numbers below %d", limits.MaxRows)
	}
	return cmp.Or(
		checkProduct("words", len(c.Words), len(c.Rows), sealed.SecretWords),
		checkProduct("norms", len(c.Norms), len(c.Names), 1), checkProduct("ids", len(c.IDs), len(c.Names), 1),
	)
}

func (c *SealedChanges) format() format { return format{kindSealedChanges, sealedVersion, newCRCPair} }

func (c *SealedChanges) fields() (int64, func(*encoder), error) {
	return int64(len(c.Epoch)+7*8) + 4*int64(len(c.Rows)+len(c.Words)+len(c.Names)+len(c.IDs)) + 2*int64(len(c.Norms)), func(e *encoder) {
		e.fixed(c.Epoch[:])
		e.uint64(c.Since)
		e.uint64(c.Version)
		encodeSlice(e, c.Rows)
		encodeSlice(e, c.Words)
		encodeSlice(e, c.Names)
		encodeSlice(e, c.Norms)
		encodeSlice(e, c.IDs)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (c *SealedChanges) MarshalBinary() ([]byte, error) { return appendFrame(nil, c) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (c *SealedChanges) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, c) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (c *SealedChanges) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, c) }

// UnmarshalBinary reads the binary form. When it fails, c stays as it was.
func (c *SealedChanges) UnmarshalBinary(frame []byte) error {
	d, err := open(c.format(), frame)
	if err != nil {
		return err
	}
	var out SealedChanges
	d.fixed("epoch", out.Epoch[:])
	out.Since = d.uint64("since")
	out.Version = d.uint64("version")
	out.Rows = decodeSlice[uint32](d, "rows")
	out.Words = decodeSlice[uint32](d, "words")
	out.Names = decodeSlice[uint32](d, "names")
	out.Norms = decodeSlice[int16](d, "norms")
	out.IDs = decodeSlice[uint32](d, "ids")
	return finish(d, c, &out, out.Check)
}
