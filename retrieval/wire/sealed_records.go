package wire

import (
	"cmp"
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// SealedRecords is what a server publishes about the records of a gallery, which clients fetch
// without saying which. Its hash names the epoch of the records. Record i is in column
// i / PerColumn of the matrix, from row (i % PerColumn) * Length on.
type SealedRecords struct {
	Gallery   Hash // the epoch of the gallery whose rows the records belong to
	Records   int  // one a row of the gallery
	Length    int  // bytes of a record, all padded to it
	PerColumn int  // records in a column
	Contents  Hash // SHA-256 of all padded records, one behind the other
}

// Check returns nil, or an *Error for the first field that is wrong.
func (r *SealedRecords) Check() error {
	if err := cmp.Or(checkCount("records", r.Records, limits.MaxRows), checkCount("length", r.Length, sealed.MaxRecord), checkCount("per column", r.PerColumn, limits.MaxRows/sealed.MaxRecord)); err != nil {
		return err
	}
	if r.Columns() > sealed.MaxRecordColumns {
		return refuse("per column", "%d of %d records make %d columns, want at most %d", r.PerColumn, r.Records, r.Columns(), sealed.MaxRecordColumns)
	}
	if 4*sealed.SecretWords*int64(r.MatrixRows()) > mostSealed {
		return refuse("per column", "%d records of %d bytes: a hint is no message", r.PerColumn, r.Length)
	}
	return nil
}

func (r *SealedRecords) format() format { return format{kindSealedRecords, sealedVersion, newSHA256} }

func (r *SealedRecords) fields() (int64, func(*encoder), error) {
	return int64(2*len(r.Gallery) + 3*8), func(e *encoder) {
		e.fixed(r.Gallery[:])
		for _, v := range []int{r.Records, r.Length, r.PerColumn} {
			e.uint64(uint64(v))
		}
		e.fixed(r.Contents[:])
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is one.
func (r *SealedRecords) MarshalBinary() ([]byte, error) { return appendFrame(nil, r) }

// AppendBinary appends the binary form to b, which is returned as it was after an error of
// Check.
func (r *SealedRecords) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, r) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (r *SealedRecords) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, r) }

// UnmarshalBinary reads the binary form. When it fails, r stays as it was.
func (r *SealedRecords) UnmarshalBinary(frame []byte) error {
	d, err := open(r.format(), frame)
	if err != nil {
		return err
	}
	var out SealedRecords
	d.fixed("gallery", out.Gallery[:])
	out.Records = d.whole("records", limits.MaxRows)
	out.Length = d.whole("length", sealed.MaxRecord)
	out.PerColumn = d.whole("per column", limits.MaxRows/sealed.MaxRecord)
	d.fixed("contents", out.Contents[:])
	return finish(d, r, &out, out.Check)
}

// Columns returns the number of words of a ciphertext.
func (r *SealedRecords) Columns() int {
	return r.Records/r.PerColumn + min(1, r.Records%r.PerColumn)
}

// MatrixRows returns the number of rows of the matrix.
func (r *SealedRecords) MatrixRows() int { return r.PerColumn * r.Length }

// Hash returns the SHA-256 that names the epoch of the records, the one its binary form ends
// with, and the error of Check when there is one.
func (r *SealedRecords) Hash() (h Hash, err error) {
	return endOf(r)
}
