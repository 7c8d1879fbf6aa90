package lattice

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Transfer multiplies numbers in the nodes of a lattice, P nodes of a cell along each
// axis, by a kernel. The kernel is a product over the axes and reaches a few cells far.
//
// Where all cells are kept, the nodes are one tensor, and the axes are swept one after the
// other, each with a band of the kernel. Where only the occupied cells are kept, the nodes
// of a cell are together in a tile, and a cell collects from each occupied cell in reach.
type Transfer struct {
	*Lattice
	*Sorted
	P     int
	Nodes int // of all kept cells
	// table has, for each axis a, P rows of band(a) numbers: the kernel along the axis
	// between a node of a cell and the nodes of the cells from Reach[a] before the cell to
	// Reach[a] behind it.
	table  [MaxAxes][]float64
	Within [MaxAxes][]float64 // the kernel along each axis between the nodes of one cell: P rows of P numbers
}

// NewTransfer makes the tables of a kernel. kernel(a, k, from, to) is the kernel along axis
// a between node from of a cell and node to of the cell that is k cells ahead.
func NewTransfer(l *Lattice, cells *Sorted, p int, kernel func(a, k, from, to int) float64) *Transfer {
	t := &Transfer{Lattice: l, Sorted: cells, P: p, Nodes: cells.Count() * power(p, l.D)}
	for a := range l.D {
		t.table[a] = make([]float64, 0, p*t.band(a))
		for from := range p {
			for k := -l.Reach[a]; k <= l.Reach[a]; k++ {
				for to := range p {
					t.table[a] = append(t.table[a], kernel(a, k, from, to))
				}
			}
			t.Within[a] = append(t.Within[a], t.table[a][from*t.band(a)+l.Reach[a]*p:][:p]...)
		}
	}
	return t
}

// GaussTransfer returns the transfer of the Gaussian kernel.
func GaussTransfer(l *Lattice, cells *Sorted, c Chebyshev) *Transfer {
	return NewTransfer(l, cells, len(c.Nodes), func(a, k, from, to int) float64 {
		x := (float64(k) + (c.Nodes[to]-c.Nodes[from])/2) * l.Width[a]
		return math.Exp(-x * x / 2)
	})
}

// BoundTransfer returns the transfer that takes the number of points of each cell to the
// sum by which bounds of errors are multiplied: its kernel is exp(-apart^2/4) along each
// axis.
func BoundTransfer(l *Lattice, cells *Sorted) *Transfer {
	return NewTransfer(l, cells, 1, func(a, k, _, _ int) float64 {
		x := l.apart(a, k)
		return math.Exp(-x * x / 4)
	})
}

// band returns the number of nodes of the cells in reach along axis a.
func (t *Transfer) band(a int) int { return (2*t.Reach[a] + 1) * t.P }

// TileSize returns the number of nodes of a cell.
func (t *Transfer) TileSize() int { return power(t.P, t.D) }

// axisNodes returns the number of nodes along axis a of the whole lattice.
func (t *Transfer) axisNodes(a int) int { return t.size[a] * t.P }

// Base returns where, among all nodes of a column, the nodes of a kept cell begin.
func (t *Transfer) Base(cell int) int {
	if t.keys != nil {
		return cell * t.TileSize()
	}
	first, at := 0, t.Coordinates(uint64(cell))
	for a := range t.D {
		first = first*t.axisNodes(a) + at[a]*t.P
	}
	return first
}

// Runs returns where, counted from the base of a cell, the runs of P nodes of the cell
// along the last axis begin.
func (t *Transfer) Runs() []int {
	out := make([]int, t.TileSize()/t.P)
	for r := range out {
		if t.keys != nil {
			out[r] = r * t.P
			continue
		}
		rest, step := r, t.axisNodes(t.D-1)
		for a := t.D - 2; a >= 0; a-- {
			out[r] += rest % t.P * step
			rest /= t.P
			step *= t.axisNodes(a)
		}
	}
	return out
}

// A Pass multiplies k columns of Nodes numbers each.
type Pass struct {
	*Transfer
	k        int
	kernels  *simd.Kernels
	In, out  []float64
	axis     int
	from, to int         // the products of these cells are made: kept cells or, when all are kept, cells along the first axis
	scratch  [][]float64 // D tiles of each worker; nil when all cells are kept
}

// NewPass returns a pass for k columns.
func NewPass(t *Transfer, k, workers int, kernels *simd.Kernels) *Pass {
	pass := &Pass{Transfer: t, k: k, kernels: kernels, In: make([]float64, k*t.Nodes), out: make([]float64, k*t.Nodes)}
	if t.keys != nil {
		pass.scratch = make([][]float64, workers)
		for w := range pass.scratch {
			pass.scratch[w] = make([]float64, t.D*t.TileSize())
		}
	}
	pass.Restrict(0, t.Count())
	return pass
}

// Restrict leaves the kept cells lo to hi-1 to Do, and where all cells are kept those that
// have the same numbers along the first axis. What Do makes of them has the same bits.
func (pass *Pass) Restrict(lo, hi int) {
	pass.from, pass.to = lo, hi
	if pass.keys == nil {
		pass.from, pass.to = pass.slabs(lo, hi)
	}
}

// Do replaces the numbers in pass.In by their products. Behind Restrict the numbers of other
// cells have no meaning afterwards.
func (pass *Pass) Do(ctx context.Context, workers *par.Workers) error {
	axes := pass.D
	if pass.keys != nil {
		axes = 1
	}
	for pass.axis = range axes {
		if err := workers.Do(ctx, pass.pieces(), pass); err != nil {
			return err
		}
		pass.In, pass.out = pass.out, pass.In
	}
	return nil
}

const (
	sweepRows  = 16  // lines of a piece in a sweep of the last axis
	sweepInner = 256 // neighbouring nodes of a piece in a sweep of another axis
	cellsPiece = 16  // cells of a piece where only the occupied cells are kept
)

// shape returns the shape of the tensor around the axis at hand: the columns and the axes
// before it make outer blocks of nodes, and for each node along the axis the axes behind
// it make inner nodes.
func (pass *Pass) shape() (outer, inner int) {
	outer, inner = pass.k, 1
	for a := range pass.D {
		switch {
		case a < pass.axis:
			outer *= pass.axisNodes(a)
		case a > pass.axis:
			inner *= pass.axisNodes(a)
		}
	}
	return outer, inner
}

// pieces returns the number of pieces of the axis at hand.
func (pass *Pass) pieces() int {
	if pass.keys != nil {
		return split.Blocks(pass.to-pass.from, cellsPiece)
	}
	outer, inner := pass.blocks()
	if inner == 1 {
		return split.Blocks(outer, sweepRows)
	}
	first, end := pass.swept()
	return outer * (end - first) * split.Blocks(inner, sweepInner)
}

// blocks is shape with those outer blocks alone that are made: behind the first axis some of
// each column.
func (pass *Pass) blocks() (outer, inner int) {
	outer, inner = pass.shape()
	if pass.axis > 0 {
		outer = outer / pass.size[0] * (pass.to - pass.from)
	}
	return outer, inner
}

// block returns the number among all outer blocks of the i-th that is made.
func (pass *Pass) block(i int) int {
	if pass.axis == 0 {
		return i
	}
	all, _ := pass.shape()
	column := all / pass.k
	slab := column / pass.size[0]
	own := slab * (pass.to - pass.from)
	return i/own*column + slab*pass.from + i%own
}

// swept returns the cells along the axis at hand whose products are made, first to end-1.
func (pass *Pass) swept() (first, end int) {
	if pass.axis == 0 {
		return pass.from, pass.to
	}
	return 0, pass.size[pass.axis]
}

// Run does one piece.
func (pass *Pass) Run(worker, piece int) {
	if pass.keys != nil {
		lo, hi := split.Block(piece, pass.to-pass.from, cellsPiece)
		for cell := lo; cell < hi; cell++ {
			pass.collect(pass.scratch[worker], pass.from+cell)
		}
		return
	}
	outer, inner := pass.blocks()
	if inner == 1 {
		lo, hi := split.Block(piece, outer, sweepRows)
		for line := lo; line < hi; line++ {
			pass.sweepLine(pass.block(line))
		}
		return
	}
	parts := split.Blocks(inner, sweepInner)
	lo, hi := split.Block(piece%parts, inner, sweepInner)
	piece /= parts
	first, end := pass.swept()
	pass.sweepCell(pass.block(piece/(end-first)), first+piece%(end-first), inner, lo, hi)
}

// sweepLine sweeps a line of nodes along the last axis: each node of a cell adds its row
// of the table, times its number, to the band around the cell.
func (pass *Pass) sweepLine(line int) {
	a, p := pass.axis, pass.P
	n, reach, band := pass.axisNodes(a), pass.Reach[a]*p, pass.band(a)
	in, out := pass.In[line*n:][:n], pass.out[line*n:][:n]
	least, end := pass.swept()
	least, end = least*p, end*p
	clear(out[least:end])
	for first := max(least-reach, 0); first < min(end+reach, n); first += p {
		from, to := max(first-reach, least), min(first+p+reach, end)
		skip := from - (first - reach)
		pass.kernels.AddRows(out[from:to], in[first:first+p], simd.RowsOf(pass.table[a][skip:], band))
	}
}

// sweepCell makes the numbers of one block in the P nodes of a cell along the axis at hand
// and in the nodes lo to hi-1 of the inner nodes.
func (pass *Pass) sweepCell(block, cell, inner, lo, hi int) {
	a, p := pass.axis, pass.P
	n, reach, band := pass.axisNodes(a), pass.Reach[a], pass.band(a)
	in, out := pass.In[block*n*inner:][:n*inner], pass.out[block*n*inner:][:n*inner]
	first, last := max(cell-reach, 0)*p, min(cell+reach+1, pass.size[a])*p
	skip := first - (cell-reach)*p
	for i := range p {
		target := out[(cell*p+i)*inner+lo:][:hi-lo]
		clear(target)
		row := pass.table[a][i*band+skip:][:last-first]
		pass.kernels.AddRows(target, row, simd.RowsOf(in[first*inner+lo:], inner))
	}
}

// collect makes the numbers in the nodes of a cell from the numbers in the nodes of the
// occupied cells in reach.
func (pass *Pass) collect(scratch []float64, cell int) {
	at := pass.Coordinates(pass.keys[cell])
	tile := pass.TileSize()
	for c := range pass.k {
		clear(scratch)
		pass.collectAxis(scratch, at, 0, 0, pass.In[c*pass.Nodes:])
		copy(pass.out[c*pass.Nodes+cell*tile:][:tile], scratch)
	}
}

// collectAxis adds to the first tile of scratch what comes from the occupied cells in
// reach whose keys begin with the given key, which is made of their numbers along the axes
// before a. at is the numbers of the cell that collects.
func (pass *Pass) collectAxis(scratch []float64, at [MaxAxes]int, a int, key uint64, in []float64) {
	tile, reach, size := pass.TileSize(), pass.Reach[a], uint64(pass.size[a])
	span := uint64(1) // how many keys agree in the numbers up to this axis
	for _, more := range pass.size[a+1 : pass.D] {
		span *= uint64(more)
	}
	first, behind := max(at[a]-reach, 0), min(at[a]+reach+1, pass.size[a])
	for v := first; v < behind; v++ {
		// Straight to the next occupied cell: most cells may be empty.
		next, _ := slices.BinarySearch(pass.keys, (key*size+uint64(v))*span)
		if next == len(pass.keys) || pass.keys[next] >= (key*size+uint64(behind))*span {
			break
		}
		v = int(pass.keys[next]/span - key*size)
		if a == pass.D-1 {
			pass.contract(scratch, in[next*tile:], a, v-at[a])
		} else {
			pass.collectAxis(scratch[tile:], at, a+1, key*size+uint64(v), in)
			pass.contract(scratch, scratch[tile:], a, v-at[a])
			clear(scratch[tile:][:tile])
		}
	}
}

// contract adds to the tile out what comes along axis a from the tile in, which is of a
// cell k cells ahead.
func (pass *Pass) contract(out, in []float64, a, k int) {
	p, inner, band := pass.P, power(pass.P, pass.D-1-a), pass.band(a)
	skip := (k + pass.Reach[a]) * p
	for first := 0; first < pass.TileSize(); first += p * inner {
		for i := range p {
			row := pass.table[a][i*band+skip:][:p]
			if inner == 1 {
				sum := 0.0
				for j, v := range in[first:][:p] {
					sum += float64(row[j] * v)
				}
				out[first+i] += sum
				continue
			}
			pass.kernels.AddRows(out[first+i*inner:][:inner], row, simd.RowsOf(in[first:], inner))
		}
	}
}
