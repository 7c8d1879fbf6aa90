package wire

import (
	"io"
	"slices"
)

// WriteGathered is WriteTo for an answer of Float32 without Rows, which are written from
// where they are: row returns that of a number, of Dimension entries, and is called in the order of
// IDs. Rows of Padding are zero. The bytes are those of WriteTo for the answer with
// these rows.
//
// An answer that is not valid is refused before anything is written, and one that has
// Rows is, too. A row of another dimension, or with a number that is not finite, is found
// when its turn comes: the error is ErrMessage, and the reader has part of a message,
// which it refuses.
func (a *CellsAnswer) WriteGathered(w io.Writer, row func(id uint32) []float32) (int64, error) {
	return writeFrame(w, gathered{a, row})
}

// gathered is an answer whose rows are elsewhere.
type gathered struct {
	*CellsAnswer
	row func(id uint32) []float32
}

func (g gathered) Check() error { return g.checkGathered(Float32) }

// checkGathered looks at an answer whose rows, of that encoding, are elsewhere.
func (a *CellsAnswer) checkGathered(encoding Encoding) error {
	if a.Encoding != encoding {
		return refuse("encoding", "%s, and rows of %s are gathered", a.Encoding, encoding)
	}
	if len(a.Rows) > 0 || !a.Compact.empty() {
		return refuse("rows", "the answer has some, and rows are gathered")
	}
	if err := a.checkLists(); err != nil {
		return err
	}
	return checkDimension(a.Dimension)
}

func (g gathered) fields() (int64, func(*encoder), error) { return g.fieldsWith(g.encodeRows) }

// gatherBlock is how many rows are copied before they are checked. Copies of rows that
// are far apart do not wait for each other then.
const gatherBlock = 32

func (g gathered) encodeRows(e *encoder) {
	e.uint64(uint64(len(g.IDs)) * uint64(g.Dimension))
	padding := make([]float32, g.Dimension)
	rows := make([][]float32, 0, gatherBlock)
	for ids := range slices.Chunk(g.IDs, gatherBlock) {
		rows = rows[:0]
		for _, id := range ids {
			row := padding
			if id != Padding {
				row = g.row(id)
			}
			rows = append(rows, row)
			encodeNumbers(e, row)
		}
		for _, row := range rows {
			if err := checkRows(g.Dimension, 1, row); err != nil {
				e.fail(err)
			}
		}
		if e.err != nil {
			return
		}
	}
}
