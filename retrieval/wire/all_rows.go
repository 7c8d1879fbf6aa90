package wire

import (
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// AllRows holds all rows of a gallery, compact: row i is row i of it. Whoever takes it
// ranks at home, and tells nothing of a query but that the gallery was taken. Clients take
// it once and keep it.
type AllRows struct {
	Codebook  Hash // of the codebook it goes with
	Dimension int  // of the rows
	Rows      Compact
}

// allRowsHead is the length of all that is before the rows in the binary form.
const allRowsHead = int64(headSize + len(Hash{}) + 8)

// Check returns nil, or an *Error for the first field that is wrong.
func (g *AllRows) Check() error {
	if n := len(g.Rows.Anchors); n < 1 || n > limits.MaxRows {
		return refuse("anchors", "%d rows, want 1 to %d", n, limits.MaxRows)
	}
	return g.Rows.check(g.Dimension, len(g.Rows.Anchors))
}

func (g *AllRows) format() format { return allRowsFormat }

var allRowsFormat = format{kindAllRows, compactVersion, newCRCPair}

func (g *AllRows) fields() (int64, func(*encoder), error) {
	size := int64(len(g.Codebook)) + 8 + Int8.rowsSize(int64(len(g.Rows.Anchors)), int64(g.Dimension))
	return size, func(e *encoder) {
		e.fixed(g.Codebook[:])
		e.uint64(uint64(g.Dimension))
		encodeRowsAs(e, Int8, nil, &g.Rows)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (g *AllRows) MarshalBinary() ([]byte, error) { return appendFrame(nil, g) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (g *AllRows) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, g) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (g *AllRows) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, g) }

// UnmarshalBinary reads the binary form. When it fails, g stays as it was.
func (g *AllRows) UnmarshalBinary(frame []byte) error {
	d, err := open(g.format(), frame)
	if err != nil {
		return err
	}
	var out AllRows
	d.fixed("codebook", out.Codebook[:])
	out.Dimension = d.whole("dimension", limits.MaxDimension)
	_, out.Rows = decodeRowsAs(d, Int8)
	return finish(d, g, &out, out.Check)
}
