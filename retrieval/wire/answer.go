package wire

import (
	"encoding/binary"
	"io"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A CellsAnswer holds the lists of the cells of a request, one after the other:
// the number and the row of each member, in rising order of the numbers, then
// padding up to the length of all lists. In the binary form the lists do not
// compress.
type CellsAnswer struct {
	Codebook  Hash
	Cells     []uint32  // those of the request
	Length    int       // of each list
	Dimension int       // of the rows
	IDs       []uint32  // len(Cells) x Length numbers of rows, or Padding
	Encoding  Encoding  // of the rows
	Rows      []float32 // one a number, empty where Encoding is Int8; where IDs has Padding they mean nothing, and are finite
	Compact   Compact   // one a number, empty where Encoding is Float32; where IDs has Padding they mean nothing
}

// Check returns nil, or an *Error for the first field that is wrong.
func (a *CellsAnswer) Check() error {
	if err := a.checkLists(); err != nil {
		return err
	}
	return checkRowsAs(a.Encoding, a.Dimension, len(a.IDs), a.Rows, &a.Compact)
}

// checkLists looks at all fields but Dimension and those of the rows.
func (a *CellsAnswer) checkLists() error {
	if err := checkCells(a.Cells); err != nil {
		return err
	}
	if a.Length < 1 || a.Length > limits.MaxRows || uint64(len(a.IDs)) != uint64(len(a.Cells))*uint64(a.Length) {
		return refuse("ids", "%d for %d lists of %d", len(a.IDs), len(a.Cells), a.Length)
	}
	for i := range a.Cells {
		if !risingRows(a.List(i)) {
			return refuse("ids", "list %d: want rising numbers below %d", i, limits.MaxRows)
		}
	}
	return nil
}

// List returns the numbers of the rows of list i, without the padding. The slice
// belongs to a.
func (a *CellsAnswer) List(i int) []uint32 {
	list := a.IDs[i*a.Length : (i+1)*a.Length]
	for len(list) > 0 && list[len(list)-1] == Padding {
		list = list[:len(list)-1]
	}
	return list
}

func (a *CellsAnswer) format() format {
	if a.Encoding == Int8 {
		return format{kindCompactAnswer, compactVersion, newCRCPair}
	}
	return format{kindCellsAnswer, answerVersion, newCRCPair}
}

func (a *CellsAnswer) fields() (int64, func(*encoder), error) {
	return a.fieldsWith(func(e *encoder) { encodeRowsAs(e, a.Encoding, a.Rows, &a.Compact) })
}

// fieldsWith returns the fields of an answer whose rows are encoded by a function, with
// the lengths of their slices.
func (a *CellsAnswer) fieldsWith(rows func(*encoder)) (int64, func(*encoder), error) {
	asked, n := a.asked(), int64(len(a.IDs))
	return int64(len(asked)) + 8 + 4*n + a.Encoding.rowsSize(n, int64(a.Dimension)), func(e *encoder) {
		e.fixed(asked)
		e.cover(newMask(asked))
		encodeSlice(e, a.IDs)
		rows(e)
	}, nil
}

// asked returns the first bytes of the body, which say what the request and the
// codebook say too.
func (a *CellsAnswer) asked() []byte {
	b := append(make([]byte, 0, len(a.Codebook)+3*8+4*len(a.Cells)), a.Codebook[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(a.Cells)))
	for _, cell := range a.Cells {
		b = binary.LittleEndian.AppendUint32(b, cell)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(a.Length))
	return binary.LittleEndian.AppendUint64(b, uint64(a.Dimension))
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (a *CellsAnswer) MarshalBinary() ([]byte, error) { return appendFrame(nil, a) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (a *CellsAnswer) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, a) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (a *CellsAnswer) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, a) }

// UnmarshalBinary reads the binary form, with rows of either encoding. When it fails, a stays
// as it was.
func (a *CellsAnswer) UnmarshalBinary(frame []byte) error {
	out := CellsAnswer{Encoding: encodingOf(frame, kindCompactAnswer)}
	d, err := open(out.format(), frame)
	if err != nil {
		return err
	}
	body := d.left
	d.fixed("codebook", out.Codebook[:])
	out.Cells = decodeSlice[uint32](d, "cells")
	out.Length = d.whole("length", limits.MaxRows)
	out.Dimension = d.whole("dimension", limits.MaxDimension)
	d.mask = newMask(body[:len(body)-len(d.left)])
	out.IDs = decodeSlice[uint32](d, "ids")
	out.Rows, out.Compact = decodeRowsAs(d, out.Encoding)
	return finish(d, a, &out, out.Check)
}
