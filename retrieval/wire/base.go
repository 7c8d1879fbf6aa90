package wire

import (
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A Base is a random sample of the gallery, the same for every client and every
// query. It says nothing about a query, so clients take it once and keep it.
type Base struct {
	Codebook  Hash      // of the codebook it goes with
	Dimension int       // of the rows
	IDs       []uint32  // of the rows, rising
	Encoding  Encoding  // of the rows
	Rows      []float32 // one a number; empty where Encoding is Int8
	Compact   Compact   // one a number; empty where Encoding is Float32
}

// Check returns nil, or an *Error for the first field that is wrong.
func (b *Base) Check() error {
	if !risingRows(b.IDs) {
		return refuse("ids", "want rising numbers below %d", limits.MaxRows)
	}
	return checkRowsAs(b.Encoding, b.Dimension, len(b.IDs), b.Rows, &b.Compact)
}

func (b *Base) format() format {
	if b.Encoding == Int8 {
		return format{kindCompactBase, compactVersion, newSHA256}
	}
	return format{kindBase, cellsVersion, newSHA256}
}

func (b *Base) fields() (int64, func(*encoder), error) {
	n := int64(len(b.IDs))
	size := int64(len(b.Codebook)) + 2*8 + 4*n + b.Encoding.rowsSize(n, int64(b.Dimension))
	return size, func(e *encoder) {
		e.fixed(b.Codebook[:])
		e.uint64(uint64(b.Dimension))
		encodeSlice(e, b.IDs)
		encodeRowsAs(e, b.Encoding, b.Rows, &b.Compact)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (b *Base) MarshalBinary() ([]byte, error) { return appendFrame(nil, b) }

// AppendBinary appends the binary form to dst, which is returned as it was after an
// error of Check.
func (b *Base) AppendBinary(dst []byte) ([]byte, error) { return appendFrame(dst, b) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (b *Base) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, b) }

// UnmarshalBinary reads the binary form, with rows of either encoding. When it fails, b stays
// as it was.
func (b *Base) UnmarshalBinary(frame []byte) error {
	out := Base{Encoding: encodingOf(frame, kindCompactBase)}
	d, err := open(out.format(), frame)
	if err != nil {
		return err
	}
	d.fixed("codebook", out.Codebook[:])
	out.Dimension = d.whole("dimension", limits.MaxDimension)
	out.IDs = decodeSlice[uint32](d, "ids")
	out.Rows, out.Compact = decodeRowsAs(d, out.Encoding)
	return finish(d, b, &out, out.Check)
}
