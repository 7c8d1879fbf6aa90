package wire

import (
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// SealedIDs are the row numbers of a sealed gallery by the names of its slots. A client that
// is content with names does without.
type SealedIDs struct {
	Epoch   Hash     // of the manifest they go with
	Version uint64   // of the gallery
	IDs     []uint32 // by name; Padding where there is no row
}

// Check returns nil, or an *Error for the first field that is wrong.
func (s *SealedIDs) Check() error {
	return checkCount("ids", len(s.IDs), limits.MaxSlots)
}

func (s *SealedIDs) format() format { return format{kindSealedIDs, sealedVersion, newCRCPair} }

func (s *SealedIDs) fields() (int64, func(*encoder), error) {
	return int64(len(s.Epoch)+2*8) + 4*int64(len(s.IDs)), func(e *encoder) {
		e.fixed(s.Epoch[:])
		e.uint64(s.Version)
		encodeSlice(e, s.IDs)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (s *SealedIDs) MarshalBinary() ([]byte, error) { return appendFrame(nil, s) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (s *SealedIDs) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, s) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (s *SealedIDs) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, s) }

// UnmarshalBinary reads the binary form. When it fails, s stays as it was.
func (s *SealedIDs) UnmarshalBinary(frame []byte) error {
	d, err := open(s.format(), frame)
	if err != nil {
		return err
	}
	var out SealedIDs
	d.fixed("epoch", out.Epoch[:])
	out.Version = d.uint64("version")
	out.IDs = decodeSlice[uint32](d, "ids")
	return finish(d, s, &out, out.Check)
}
