package server

import (
	"fmt"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

const (
	// blockColumns is how many columns of a matrix make a block: the words that they are
	// multiplied with stay in a cache near the core while the block passes by.
	blockColumns = 2048
	// panelRows is the number of rows that simd.MulWords takes at a time.
	panelRows = 16
	// depthStep is what the columns of a block are filled up to a multiple of.
	depthStep = 64
)

// A matrix is a matrix of signed bytes in the order in which simd.MulWords reads it: in blocks
// of columns, each a panel of all rows, so that a product reads memory once and in order.
// Whoever changes it keeps others from reading it meanwhile.
type matrix struct {
	rows, columns int
	padded        int      // rows, up to a multiple of panelRows; those beyond are zeros
	blocks        [][]int8 // panels
	views         []bool   // of blocks: it is a view of a file, and copied before it changes
	kernels       *simd.Kernels
}

// panelBytes returns the bytes of the panels of a matrix, as a number that does not overflow.
func panelBytes(rows, columns int) int64 {
	depth := (int64(columns) + depthStep - 1) / depthStep * depthStep
	return mem.Saturate(float64(paddedRows(rows)) * float64(depth))
}

func paddedRows(rows int) int { return (rows + panelRows - 1) / panelRows * panelRows }

// newMatrix returns a matrix of zeros. The caller has estimated its memory, panelBytes.
func newMatrix(rows, columns int) *matrix {
	panels := make([]int8, panelBytes(rows, columns))
	mem.Huge(panels)
	return viewMatrix(rows, columns, panels, false)
}

// openMatrix returns the matrix whose panels a file has as a section, as write has written
// them. It is a view of the file, and copies the blocks that it changes.
func openMatrix(f *sections.File, section string, rows, columns int) (*matrix, error) {
	panels, err := sections.Numbers[int8](f, section)
	if err != nil {
		return nil, err
	}
	if int64(len(panels)) != panelBytes(rows, columns) {
		return nil, f.Damagedf("section %q: %d bytes for %d x %d", section, len(panels), rows, columns)
	}
	return viewMatrix(rows, columns, panels, true), nil
}

func viewMatrix(rows, columns int, panels []int8, view bool) *matrix {
	m := &matrix{rows: rows, columns: columns, padded: paddedRows(rows), kernels: simd.At(simd.Best())}
	for lo := 0; lo < columns; lo += blockColumns {
		size := m.padded * m.depth(lo/blockColumns)
		m.blocks = append(m.blocks, panels[:size:size])
		m.views = append(m.views, view)
		panels = panels[size:]
	}
	return m
}

// depth returns the number of places of a row in a block, those that fill it up included.
func (m *matrix) depth(block int) int {
	columns := min(blockColumns, m.columns-block*blockColumns)
	return (columns + depthStep - 1) / depthStep * depthStep
}

// own makes a block one that may be changed.
func (m *matrix) own(block int) {
	if m.views[block] {
		m.blocks[block], m.views[block] = slices.Clone(m.blocks[block]), false
	}
}

// place returns the panel that has the entry of a row in a column, and where it is there.
func (m *matrix) place(row, column int) (panel []int8, at int) {
	block, t := column/blockColumns, column%blockColumns
	return m.blocks[block], row/panelRows*panelRows*m.depth(block) + t/4*4*panelRows + row%panelRows*4 + t%4
}

// setRow sets entries of a row, from a column on. Calls for different entries of blocks that
// are no views may be made at the same time.
func (m *matrix) setRow(row, column int, values []int8) {
	for block := column / blockColumns; block*blockColumns < column+len(values); block++ {
		m.own(block)
	}
	for j, v := range values {
		panel, at := m.place(row, column+j)
		panel[at] = v
	}
}

// row sets dst to entries of a row, from a column on.
func (m *matrix) row(dst []int8, row, column int) {
	for j := range dst {
		panel, at := m.place(row, column+j)
		dst[j] = panel[at]
	}
}

// setColumn sets entries of a column, from a row on. Calls for different entries of blocks
// that are no views may be made at the same time.
func (m *matrix) setColumn(column, row int, values []int8) {
	m.own(column / blockColumns)
	for i, v := range values {
		panel, at := m.place(row+i, column)
		panel[at] = v
	}
}

// write writes the panels as a section.
func (m *matrix) write(w *sections.Writer, section string) error {
	return w.Section(section, func(to io.Writer) error {
		for _, panel := range m.blocks {
			if err := sections.PutNumbers(to, panel); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkMemory refuses more bytes than there are, before they are taken. Few bytes are left to
// Go: to ask the system takes longer than an answer may.
func checkMemory(what string, bytes int64) error {
	const few = 64 << 20
	if bytes <= few {
		return nil
	}
	if most := min(mem.DefaultLimit(), mem.AddressSpace); bytes > most {
		return fmt.Errorf("%w: %s takes %d bytes, and %d are free", ErrMemory, what, bytes, most)
	}
	mem.MakeRoom(bytes)
	return nil
}
