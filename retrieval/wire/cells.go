package wire

import (
	"crypto/sha256"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// The messages of mode cells, in the order in which they travel, and those with compact
// rows.
const (
	kindCodebook kind = 16 + iota
	kindBase
	kindCellsRequest
	kindCellsAnswer
	kindCompactBase
	kindCompactAnswer
	kindAllRows
)

const (
	cellsVersion    = 1
	codebookVersion = 2 // 1 had no anchors
	answerVersion   = 3 // of a CellsAnswer of float32; 1 had no mask, 2 another one and SHA-256
	compactVersion  = 1 // of messages with compact rows
)

// Padding is the number of no row. It fills a list up to the length that all
// lists have, so that the size of an answer does not tell which were sent.
const Padding = math.MaxUint32

// A Hash is a SHA-256.
type Hash = [sha256.Size]byte

// A CellsRequest is a query: the set of cells that a client has released. There
// is nothing else in it. A payer's requests for one record under one codebook and one
// epsilon are equal.
type CellsRequest struct {
	Codebook Hash     // of the codebook that was chosen from
	Cells    []uint32 // rising
}

// Check returns nil, or an *Error for the first field that is wrong.
func (r *CellsRequest) Check() error { return checkCells(r.Cells) }

func (r *CellsRequest) format() format { return format{kindCellsRequest, cellsVersion, newSHA256} }

func (r *CellsRequest) fields() (int64, func(*encoder), error) {
	return int64(len(r.Codebook)+8) + 4*int64(len(r.Cells)), func(e *encoder) {
		e.fixed(r.Codebook[:])
		encodeSlice(e, r.Cells)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (r *CellsRequest) MarshalBinary() ([]byte, error) { return appendFrame(nil, r) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (r *CellsRequest) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, r) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (r *CellsRequest) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, r) }

// UnmarshalBinary reads the binary form. When it fails, r stays as it was.
func (r *CellsRequest) UnmarshalBinary(frame []byte) error {
	d, err := open(r.format(), frame)
	if err != nil {
		return err
	}
	var out CellsRequest
	d.fixed("codebook", out.Codebook[:])
	out.Cells = decodeSlice[uint32](d, "cells")
	return finish(d, r, &out, out.Check)
}

// checkCells is for a set of cells, which has no order of its own: any other
// order than the rising one could tell which was the private one.
func checkCells(cells []uint32) error {
	if len(cells) < 1 || len(cells) >= limits.MaxCells || !rising(cells) || cells[len(cells)-1] >= limits.MaxCells {
		return refuse("cells", "%d numbers, want at least one, in rising order, below %d", len(cells), limits.MaxCells)
	}
	return nil
}

func checkRows(dimension, n int, rows []float32) error {
	if err := checkDimension(dimension); err != nil {
		return err
	}
	switch {
	case uint64(len(rows)) != uint64(n)*uint64(dimension):
		return refuse("rows", "%d numbers for %d rows of dimension %d", len(rows), n, dimension)
	case !allFinite(rows):
		return refuse("rows", "a number is not finite")
	}
	return nil
}

func checkDimension(dimension int) error {
	if dimension < 1 || dimension > limits.MaxDimension {
		return refuse("dimension", "%d, want 1 to %d", dimension, limits.MaxDimension)
	}
	return nil
}

// risingRows reports whether these can be the numbers of rows, each once.
func risingRows(ids []uint32) bool {
	return rising(ids) && (len(ids) == 0 || ids[len(ids)-1] < limits.MaxRows)
}

// rising reports whether each number is above the one before it.
func rising(v []uint32) bool {
	for i := 1; i < len(v); i++ {
		if v[i] <= v[i-1] {
			return false
		}
	}
	return true
}
