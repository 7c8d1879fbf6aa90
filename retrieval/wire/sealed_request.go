package wire

import (
	"cmp"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A SealedRequest is a query under encryption: one ciphertext for each probe, or for each
// record that is fetched.
type SealedRequest struct {
	Epoch   Hash // of the manifest whose public matrix was used
	Count   int  // ciphertexts
	Columns int  // words of a ciphertext
	// Width is how many bytes of a word are sent, the upper ones: 3 for probes, 4 for records.
	Width int
	Bytes []byte // Count x Columns x Width, the low byte of a word first
}

// Check returns nil, or an *Error for the first field that is wrong.
func (r *SealedRequest) Check() error {
	if err := cmp.Or(checkCount("count", r.Count, limits.MaxCiphertexts), checkCount("columns", r.Columns, limits.MaxSealedColumns)); err != nil {
		return err
	}
	if r.Width != 3 && r.Width != 4 {
		return refuse("width", "%d, want 3 or 4", r.Width)
	}
	return checkProduct("bytes", len(r.Bytes), r.Count*r.Width, r.Columns)
}

func (r *SealedRequest) format() format { return format{kindSealedRequest, sealedVersion, newCRCPair} }

func (r *SealedRequest) fields() (int64, func(*encoder), error) {
	return int64(len(r.Epoch)+4*8) + int64(len(r.Bytes)), func(e *encoder) {
		e.fixed(r.Epoch[:])
		e.uint64(uint64(r.Count))
		e.uint64(uint64(r.Columns))
		e.uint64(uint64(r.Width))
		e.bytes(r.Bytes)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (r *SealedRequest) MarshalBinary() ([]byte, error) { return appendFrame(nil, r) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (r *SealedRequest) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, r) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (r *SealedRequest) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, r) }

// UnmarshalBinary reads the binary form. When it fails, r stays as it was.
func (r *SealedRequest) UnmarshalBinary(frame []byte) error { return r.Adopt(slices.Clone(frame)) }

// Adopt is UnmarshalBinary without a copy: Bytes are part of frame, which is r's from then on.
func (r *SealedRequest) Adopt(frame []byte) error {
	d, err := open(r.format(), frame)
	if err != nil {
		return err
	}
	var out SealedRequest
	d.fixed("epoch", out.Epoch[:])
	out.Count = d.whole("count", limits.MaxCiphertexts)
	out.Columns = d.whole("columns", limits.MaxSealedColumns)
	out.Width = d.whole("width", 4)
	out.Bytes = d.bytes("bytes")
	return finish(d, r, &out, out.Check)
}
