// Package grid has the operator grid: every pair in 1 to 4 dimensions, interpolated from
// Chebyshev nodes in cells, with direct weights for rows that no interpolation serves.
package grid

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/par"
)

// Grid is the Gaussian kernel in 1 to 4 dimensions, interpolated. The box of the
// points is split into cells of half-width rho and each cell has p Chebyshev nodes
// along each axis. Rows of x are interpolated to the nodes of their cells, the nodes
// of the cells exchange what they have, one axis after the other since the kernel is
// a product, and the result is interpolated back:
//
//	what_ij = prod_a sum_{s,t} b_s(p_ia) exp(-(node_s - node_t)^2 / 2 sigma^2) b_t(p_ja)
//
// with b the basis of the interpolation, and what_ii = 0: the weight of a point and
// itself, as it comes out, is subtracted. The matrix is symmetric. Everything is
// float64.
//
// With lengths in units of sigma, eps = 2.173 (rho/2)^p / sqrt(p!) the error of an
// interpolation, Lam = 1 + (2/pi) ln p and r the distance cells reach along an axis,
//
//	delta = eps (1 + Lam) + rounding,   |what - w| <= EntryAbs = max((1 + delta)^D - 1, exp(-r^2/2))
//
// Close pairs meet that bound. For cells that are x apart the error is exp(-x^2/4) times
// smaller along each axis, and so the bound of a row,
//
//	E_i = D delta (1 + delta)^(D-1) sum_j exp(-|x_ij|^2/4) + (n-1) exp(-r^2/2),   eta_i = E_i / dhat_i,
//
// follows the density around it. The sum is made from the numbers of points in the
// cells. Where points are dense on the scale of sigma, eta_i is a few delta, however
// many of the others are out of sight.
//
// A row with E_i above half of its degree is beyond the grid: an outlier that sees
// others by weights too small to interpolate. It is taken out of the grid, as a row
// and as a column, and counts as isolated. With the policy [Repair] so is every row
// that misses the tolerance, and all of these get direct rows: their weights with
// all points that matter to them, exact and stored, for both points of a pair.
//
// A product costs 2 n k p^D operations and what the nodes cost, which does not depend
// on n, whatever the number of neighbours.
//
// Ranks share the points in the order of their cells, and send each other what the nodes of
// their cells see; gridExchange says how. Direct rows see points of any rank, and so ranks
// gather the iterate where there are some. The points are sorted, and the numbers of points
// around cells are summed, on every rank.
type Grid struct {
	step.WideBase
	Cells         *lattice.Sorted
	Lattice       *lattice.Lattice
	Transfer      *lattice.Transfer
	interpolation lattice.Chebyshev
	Place         [lattice.MaxAxes][]float64 // of each sorted point of this rank in its cell, from -1 to 1, and zeros that fill the lanes
	self          []float64                  // weight of each point of this rank and itself, as interpolated
	Out           []bool                     // rows out of the grid; nil when there are none
	Direct        directRows
	Pieces        []gridPiece
	Slots         int
	errs          gridErrors
}

// New builds the operator grid of points.
func New(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*Grid, error) {
	if err := o.RefuseFixed("grid"); err != nil {
		return nil, base.BuildError("grid", err)
	}
	choice, err := chooseGrid(ctx, p, b, o)
	if err != nil {
		return nil, base.BuildError("grid", err)
	}
	return newGrid(ctx, p, b, choice, o)
}

// newGrid builds the operator of a choice.
func newGrid(ctx context.Context, p *rows.Points, b base.Bandwidth, choice *gridChoice, o *base.Options) (*Grid, error) {
	op, err := choice.build(ctx, p, b, o)
	return op, base.BuildError("grid", err)
}

// build makes the operator of the chosen cells and nodes, or of some more nodes if these
// miss the tolerance.
func (choice *gridChoice) build(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*Grid, error) {
	op := &Grid{Lattice: &choice.lattice}
	op.Base = step.NewBase("grid", o)
	op.Pass32 = func(p *step.Product[float32]) step.Pass[float32] { return newGridPass(op, p) }
	op.Pass64 = func(p *step.Product[float64]) step.Pass[float64] { return newGridPass(op, p) }
	err := o.Take("build grid", choice.cost(p, o).PeakBytes)
	if err != nil {
		return nil, err
	}
	if op.Cells, err = op.Lattice.SortPoints(ctx, p, 1, choice.all, o.Workers); err != nil {
		return nil, err
	}
	op.GivenRows = op.Cells.Order
	op.Pieces, op.Slots = splitPieces(op.Cells)
	op.Bounds = make([]int, len(op.Pieces)+1)
	for i, piece := range op.Pieces {
		op.Bounds[i+1] = piece.hi
	}
	if err := op.locate(ctx, p); err != nil {
		return nil, err
	}
	progress := o.Stage("grid", 1)
	for {
		choice.occupied = float64(op.Cells.Count())
		cost := choice.cost(p, o)
		if err := o.Take("build grid", cost.PeakBytes); err != nil { // the number of occupied cells is known only now
			return nil, err
		}
		op.Costs = cost
		near, err := op.fill(ctx, choice.nodes)
		if err != nil {
			return nil, err
		}
		if err := op.certify(ctx, near); err != nil {
			return nil, err
		}
		if !choice.raise(op, near, o) {
			if err := op.exclude(ctx, p, b, near, o); err != nil {
				return nil, err
			}
			break
		}
	}
	progress.Add()
	return op, op.checkPolicy(o)
}

// locate finds the place of each point in its cell, of the points of this rank.
func (op *Grid) locate(ctx context.Context, p *rows.Points) error {
	d := op.Lattice.D
	for a := range d {
		op.Place[a] = make([]float64, p.N+simd.NodeLanes)
		mem.Huge(op.Place[a])
	}
	from, to := op.OwnChunks()
	return base.DoPieces(ctx, op.Workers, from, to, par.Func(func(_, piece int) {
		lo, hi := op.Pieces[piece].lo, op.Pieces[piece].hi
		for a := range d {
			place := op.Place[a][lo:hi]
			p.Column(place, op.Cells.Order[lo:hi], a)
			for i, v := range place {
				_, place[i] = op.Lattice.Locate(a, v)
			}
		}
	}))
}

// fill makes the tables for p nodes, the weights of points and themselves, and the
// degrees. It returns the sums of exp(-|x|^2/4) over the points around each cell.
func (op *Grid) fill(ctx context.Context, p int) (near []float64, err error) {
	op.interpolation = lattice.NewChebyshev(p)
	op.Transfer = lattice.GaussTransfer(op.Lattice, op.Cells, op.interpolation)
	op.self, op.RowSums, op.Out, op.Direct = make([]float64, len(op.Cells.Order)), nil, nil, directRows{}
	if err := op.sum(ctx, true); err != nil {
		return nil, err
	}
	bound := lattice.NewPass(lattice.BoundTransfer(op.Lattice, op.Cells), 1, op.Workers.Count(), op.Kernels)
	copy(bound.In, op.Cells.Counts())
	if err := bound.Do(ctx, op.Workers); err != nil {
		return nil, err
	}
	return bound.In, nil
}

// weighSelf sets the interpolated weights of n points, from lo on, and themselves, given
// their basis in scratch: along each axis they are interpolated back and forth within
// their cell.
func (op *Grid) weighSelf(scratch *gridScratch, lo, n int) {
	t, m := op.Transfer, filled(n)
	self, along := op.self[lo:][:n], scratch.wx[:m]
	for i := range self {
		self[i] = 1
	}
	for a := range t.D {
		basis := scratch.basis[a][:t.P*m]
		op.Kernels.NodesToPoints(along, basis, basis, t.Within[a], n)
		for i := range self {
			self[i] *= along[i]
		}
	}
}

// sum sets the degrees and, if first is set, the weights of points and themselves.
func (op *Grid) sum(ctx context.Context, first bool) error {
	n := len(op.Cells.Order)
	degrees := make([]float64, n)
	if op.RowSums == nil {
		op.RowSums = degrees // none is read before it is written
	}
	p := &step.Product[float64]{Op: &op.Base, K: 1}
	pass := newGridPass(op, p)
	p.Pass, pass.first = pass, first
	if err := p.Make(ctx, rows.NewView(n, 1, 1, degrees), base.Ones(n), nil); err != nil {
		return err
	}
	op.RowSums = degrees
	return nil
}

// Outside reports whether row i is out of the grid.
func (op *Grid) Outside(i int) bool { return op.Out != nil && op.Out[i] }

// gridErrors is what the bound of a row is made of.
type gridErrors struct {
	entry       float64 // of a weight, at most
	near        float64 // factor of the sum of exp(-|x|^2/4) around its cell
	accumulated float64 // share of that of roundings of sums
	far         float64 // all weights out of reach
}

func (op *Grid) newErrors() gridErrors {
	t, n := op.Transfer, float64(len(op.Cells.Order))
	d, delta, r := float64(t.D), op.Lattice.AxisError(t.P), op.Lattice.Radius-op.Lattice.PositionError()
	beyond := math.Exp(-r * r / 2)
	e := gridErrors{entry: max(math.Pow(1+delta, d)-1, beyond), far: (n - 1) * beyond}
	// A step sees differences from a mean, which may be twice as large as those from the
	// weighted mean that the certificate speaks of.
	e.accumulated = op.Lattice.SumError(t.P, op.Slots)
	e.near = d*delta*math.Pow(1+delta, d-1) + 2*e.accumulated
	return e
}

// certify bounds all rows, before exclude takes any out of the grid. near is the sum
// around each cell.
func (op *Grid) certify(ctx context.Context, near []float64) error {
	op.errs = op.newErrors()
	op.Cert = base.Certificate{Kind: base.Absolute, EntryAbs: op.errs.entry, Row: make([]float32, len(op.RowSums))}
	rounding := make([]float64, len(op.Pieces))
	if err := op.Workers.Do(ctx, len(op.Pieces), par.Func(func(_, piece int) {
		at := &op.Pieces[piece]
		for cell := at.cell; cell < at.cell+at.cells; cell++ {
			for i := max(int(op.Cells.Start[cell]), at.lo); i < min(int(op.Cells.Start[cell+1]), at.hi); i++ {
				rounding[piece] = max(rounding[piece], op.certifyRow(i, near[cell], 0))
			}
		}
	})); err != nil {
		return err
	}
	op.Cert.Rounding = slices.Max(rounding)
	op.Cert.RankRows()
	return nil
}

// certifyRow sets the bound of row i, given the sum around its cell and what else was
// left out, and returns that of its rounding, which counts where the row has a bound.
func (op *Grid) certifyRow(i int, near, dropped float64) (rounding float64) {
	eta, e := math.Inf(1), &op.errs
	if degree := op.RowSums[i]; degree > 0 {
		eta = (e.near*near+e.far+dropped)/degree*(1+1e-12) + 1e-15
		if eta < 1 {
			rounding = e.accumulated*near/degree + 0x1p-50
		}
	}
	op.Cert.Row[i] = rows.RoundUp(eta)
	return rounding
}

// checkPolicy refuses what the options do not allow.
func (op *Grid) checkPolicy(o *base.Options) error {
	if err := o.RefuseIsolated(op.Cert.Isolated, op.N(), "are too far from all others"); err != nil {
		return err
	}
	if worst := op.Cert.WorstConnected(); o.Isolated != base.Keep && worst > o.Tolerance {
		return &base.ToleranceError{Tolerance: o.Tolerance, Eta: worst, Operator: op.Name()}
	}
	return nil
}

// Close releases the places of the points.
func (op *Grid) Close() error { return step.Release(op) }
