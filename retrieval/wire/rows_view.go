package wire

import (
	"encoding/binary"
	"io"
	"slices"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A RowsView reads rows of AllRows from its binary form, where they are: no row is
// copied or looked at before it is asked for. It is safe for concurrent use.
type RowsView struct {
	codebook       Hash
	dimension      int
	first          uint32 // number of the first row
	anchors, steps []byte // two bytes a row
	codes          []int8
}

// ViewRows returns a view of the binary form of AllRows, which must not be changed
// while the view is in use. Lengths and all that is before the rows are checked; the
// checksum is not, and neither are the codes: AllRows.UnmarshalBinary does that.
func ViewRows(frame []byte) (*RowsView, error) {
	d, err := openUnsummed(allRowsFormat, frame)
	if err != nil {
		return nil, err
	}
	v := new(RowsView)
	d.fixed("codebook", v.codebook[:])
	v.dimension = d.whole("dimension", limits.MaxDimension)
	v.anchors, v.steps = d.items("anchors", 2), d.items("steps", 2)
	codes := d.bytes("codes")
	if err := d.done(); err != nil {
		return nil, err
	}
	if len(codes) > 0 {
		v.codes = unsafe.Slice((*int8)(unsafe.Pointer(&codes[0])), len(codes))
	}
	if err := checkDimension(v.dimension); err != nil {
		return nil, err
	}
	n := v.Rows()
	if n < 1 || n > limits.MaxRows || len(v.steps) != 2*n || uint64(len(v.codes)) != uint64(n)*uint64(v.dimension) {
		return nil, refuse("anchors", "%d, with %d steps and %d codes of dimension %d", n, len(v.steps)/2, len(v.codes), v.dimension)
	}
	return v, nil
}

// Codebook returns the hash of the codebook that the gallery goes with.
func (v *RowsView) Codebook() Hash { return v.codebook }

// Rows returns the number of rows.
func (v *RowsView) Rows() int { return len(v.anchors) / 2 }

// Dimension returns the dimension of the rows.
func (v *RowsView) Dimension() int { return v.dimension }

// From returns a view of the same rows whose numbers begin at first, as those of a shard do.
func (v *RowsView) From(first uint32) *RowsView {
	out := *v
	out.first = first
	return &out
}

// Gather appends rows to dst: those of the numbers, and zeros for Padding. Errors are
// ErrMessage for a row that the gallery does not have, and for invalid codes.
func (v *RowsView) Gather(dst *Compact, ids []uint32) error {
	if err := v.has(ids); err != nil {
		return err
	}
	d := v.dimension
	dst.Anchors = slices.Grow(dst.Anchors, len(ids))
	dst.Steps = slices.Grow(dst.Steps, len(ids))
	dst.Codes = slices.Grow(dst.Codes, len(ids)*d)
	padding := make([]int8, d)
	for _, id := range ids {
		dst.Anchors = append(dst.Anchors, v.entry(v.anchors, id))
		dst.Steps = append(dst.Steps, v.entry(v.steps, id))
		dst.Codes = append(dst.Codes, v.row(id, padding)...)
	}
	if !allCodes(dst.Codes[len(dst.Codes)-len(ids)*d:]) {
		return errCodes
	}
	return nil
}

var errCodes = refuse("codes", "one of the gallery is below %d", -limits.MaxCode)

// has refuses numbers that are neither Padding nor those of rows.
func (v *RowsView) has(ids []uint32) error {
	n := uint32(v.Rows())
	for _, id := range ids {
		if id-v.first >= n && id != Padding { // what is below first is far above n
			return refuse("ids", "a row that the gallery does not have")
		}
	}
	return nil
}

// entry returns the anchor or the step of a row, 0 for Padding.
func (v *RowsView) entry(of []byte, id uint32) uint16 {
	if id == Padding {
		return 0
	}
	return binary.LittleEndian.Uint16(of[2*int(id-v.first):])
}

// row returns the codes of a row; padding for Padding.
func (v *RowsView) row(id uint32, padding []int8) []int8 {
	if id == Padding {
		return padding
	}
	return v.codes[int(id-v.first)*v.dimension:][:v.dimension]
}

// WriteGatheredCompact is WriteTo for an answer of Int8 without Compact, whose rows are
// written from where the view has them. Rows of Padding are zero. The bytes are those
// of WriteTo for the answer with these rows.
//
// An answer that is not valid is refused before anything is written, and so is one with
// rows that the view does not have. Invalid codes are found when their turn comes:
// the error is ErrMessage, and the reader has part of a message, which it refuses.
func (a *CellsAnswer) WriteGatheredCompact(w io.Writer, view *RowsView) (int64, error) {
	return writeFrame(w, gatheredCompact{a, view})
}

// gatheredCompact is an answer whose rows are in a gallery.
type gatheredCompact struct {
	*CellsAnswer
	view *RowsView
}

func (g gatheredCompact) Check() error {
	if err := g.checkGathered(Int8); err != nil {
		return err
	}
	if g.view == nil || g.view.codebook != g.Codebook || g.view.dimension != g.Dimension {
		return refuse("dimension", "the answer does not belong to this gallery")
	}
	return g.view.has(g.IDs)
}

func (g gatheredCompact) fields() (int64, func(*encoder), error) { return g.fieldsWith(g.encodeRows) }

func (g gatheredCompact) encodeRows(e *encoder) {
	for _, of := range [][]byte{g.view.anchors, g.view.steps} {
		e.uint64(uint64(len(g.IDs)))
		for _, id := range g.IDs {
			e.uint16(g.view.entry(of, id))
		}
	}
	e.uint64(uint64(len(g.IDs)) * uint64(g.Dimension))
	padding := make([]int8, g.Dimension)
	for ids := range slices.Chunk(g.IDs, gatherBlock) {
		for _, id := range ids {
			encodeNumbers(e, g.view.row(id, padding))
		}
		for _, id := range ids {
			if !allCodes(g.view.row(id, padding)) {
				e.fail(errCodes)
			}
		}
		if e.err != nil {
			return
		}
	}
}
