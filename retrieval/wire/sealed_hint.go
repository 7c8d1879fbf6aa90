package wire

import (
	"cmp"
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// A SealedHint is what a client needs to decrypt answers: the matrix of the server times the
// public matrix of the epoch, modulo 2^32. Clients take it once and keep it.
type SealedHint struct {
	Epoch   Hash     // of the manifest it goes with
	Version uint64   // of the gallery; 0 is the epoch as it was published
	Rows    int      // of the matrix of the server
	Words   []uint32 // Rows x sealed.SecretWords
	// Names are the slots, rising, whose norm is another one at Version than in the manifest,
	// and Norms say which; EmptySlot where there is no row any more. Both are empty at version 0.
	Names []uint32
	Norms []int16
}

// Check returns nil, or an *Error for the first field that is wrong.
func (h *SealedHint) Check() error {
	if !risingRows(h.Names) {
		return refuse("names", "want rising numbers below %d", limits.MaxRows)
	}
	return cmp.Or(
		checkCount("rows", h.Rows, limits.MaxSlots), checkProduct("words", len(h.Words), h.Rows, sealed.SecretWords),
		checkProduct("norms", len(h.Norms), len(h.Names), 1),
	)
}

func (h *SealedHint) format() format { return format{kindSealedHint, sealedVersion, newCRCPair} }

func (h *SealedHint) fields() (int64, func(*encoder), error) {
	return int64(len(h.Epoch)+5*8) + 4*int64(len(h.Words)+len(h.Names)) + 2*int64(len(h.Norms)), func(e *encoder) {
		e.fixed(h.Epoch[:])
		e.uint64(h.Version)
		e.uint64(uint64(h.Rows))
		encodeSlice(e, h.Words)
		encodeSlice(e, h.Names)
		encodeSlice(e, h.Norms)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (h *SealedHint) MarshalBinary() ([]byte, error) { return appendFrame(nil, h) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (h *SealedHint) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, h) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (h *SealedHint) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, h) }

// UnmarshalBinary reads the binary form. When it fails, h stays as it was.
func (h *SealedHint) UnmarshalBinary(frame []byte) error {
	d, err := open(h.format(), frame)
	if err != nil {
		return err
	}
	var out SealedHint
	d.fixed("epoch", out.Epoch[:])
	out.Version = d.uint64("version")
	out.Rows = d.whole("rows", limits.MaxSlots)
	out.Words = decodeSlice[uint32](d, "words")
	out.Names = decodeSlice[uint32](d, "names")
	out.Norms = decodeSlice[int16](d, "norms")
	return finish(d, h, &out, out.Check)
}
