package wire

import "io"

// A SealedHint is what a client needs to decrypt answers: the matrix of the server times the
// public matrix of the epoch, modulo 2^32. Clients take it once and keep it.
type SealedHint struct {
	Epoch   Hash     // of the manifest it goes with
	Version uint64   // of the gallery; 0 is the epoch as it was published
	Rows    int      // of the matrix of the server
	Words   []uint32 // Rows x SecretWords
}

// Check returns nil, or an *Error for the first field that is wrong.
func (h *SealedHint) Check() error {
	return firstError(checkCount("rows", h.Rows, MaxSlots), checkProduct("words", len(h.Words), h.Rows, SecretWords))
}

func (h *SealedHint) format() format { return format{KindSealedHint, sealedVersion, newCRCPair} }

func (h *SealedHint) fields() (int64, func(*encoder), error) {
	return int64(len(h.Epoch)+3*8) + 4*int64(len(h.Words)), func(e *encoder) {
		e.fixed(h.Epoch[:])
		e.uint64(h.Version)
		e.uint64(uint64(h.Rows))
		encodeSlice(e, h.Words)
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
	out.Rows = d.whole("rows", MaxSlots)
	out.Words = decodeSlice[uint32](d, "words")
	return finish(d, h, &out, out.Check)
}
