package wire

import (
	"cmp"
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A SealedAnswer is the matrix of the server times each ciphertext of a request, modulo 2^32.
type SealedAnswer struct {
	Epoch   Hash     // of the request
	Version uint64   // of the gallery that answered
	Count   int      // ciphertexts of the request
	Rows    int      // of the matrix of the server
	Words   []uint32 // Count x Rows
}

// Check returns nil, or an *Error for the first field that is wrong.
func (a *SealedAnswer) Check() error {
	return cmp.Or(checkCount("count", a.Count, limits.MaxCiphertexts), checkCount("rows", a.Rows, limits.MaxSlots), checkProduct("words", len(a.Words), a.Count, a.Rows))
}

func (a *SealedAnswer) format() format { return format{kindSealedAnswer, sealedVersion, newCRCPair} }

func (a *SealedAnswer) fields() (int64, func(*encoder), error) {
	return int64(len(a.Epoch)+4*8) + 4*int64(len(a.Words)), func(e *encoder) {
		e.fixed(a.Epoch[:])
		e.uint64(a.Version)
		e.uint64(uint64(a.Count))
		e.uint64(uint64(a.Rows))
		encodeSlice(e, a.Words)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (a *SealedAnswer) MarshalBinary() ([]byte, error) { return appendFrame(nil, a) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (a *SealedAnswer) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, a) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (a *SealedAnswer) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, a) }

// UnmarshalBinary reads the binary form. When it fails, a stays as it was.
func (a *SealedAnswer) UnmarshalBinary(frame []byte) error {
	d, err := open(a.format(), frame)
	if err != nil {
		return err
	}
	var out SealedAnswer
	d.fixed("epoch", out.Epoch[:])
	out.Version = d.uint64("version")
	out.Count = d.whole("count", limits.MaxCiphertexts)
	out.Rows = d.whole("rows", limits.MaxSlots)
	out.Words = decodeSlice[uint32](d, "words")
	return finish(d, a, &out, out.Check)
}
