package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// grid is the Gaussian kernel in 1 to 4 dimensions, interpolated. The box of the
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
type grid struct {
	wideBase
	cells         *lattice.Sorted
	lattice       *lattice.Lattice
	transfer      *lattice.Transfer
	interpolation lattice.Chebyshev
	place         [lattice.MaxAxes][]float64 // of each sorted point of this rank in its cell, from -1 to 1, and zeros that fill the lanes
	self          []float64                  // weight of each point of this rank and itself, as interpolated
	out           []bool                     // rows out of the grid; nil when there are none
	direct        directRows
	pieces        []gridPiece
	slots         int
	errs          gridErrors
}

// NewGrid builds the operator grid: the Gaussian kernel of every pair in 1 to 4 dimensions,
// interpolated from nodes in cells. Cells and nodes follow from the points and
// Options.Tolerance. The points are not needed afterwards.
func NewGrid(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := open(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	if err := o.refuseFixed("grid"); err != nil {
		return nil, buildError("grid", err)
	}
	choice, err := chooseGrid(ctx, pts.rows, b, o)
	if err != nil {
		return nil, buildError("grid", err)
	}
	return newGrid(ctx, pts.rows, b, choice, o)
}

func newGrid(ctx context.Context, p *rows.Points, b Bandwidth, choice *gridChoice, o *Options) (Operator64, error) {
	op, err := choice.build(ctx, p, b, o)
	return orNil[Operator64](op, buildError("grid", err))
}

// build makes the operator of the chosen cells and nodes, or of some more nodes if these
// miss the tolerance.
func (choice *gridChoice) build(ctx context.Context, p *rows.Points, b Bandwidth, o *Options) (*grid, error) {
	op := &grid{lattice: &choice.lattice}
	op.base = newBase("grid", o)
	op.pass32 = func(p *product[float32]) pass[float32] { return newGridPass(op, p) }
	op.pass64 = func(p *product[float64]) pass[float64] { return newGridPass(op, p) }
	err := o.take("build grid", choice.cost(p, o).PeakBytes)
	if err != nil {
		return nil, err
	}
	if op.cells, err = op.lattice.SortPoints(ctx, p, 1, choice.all, o.Workers); err != nil {
		return nil, err
	}
	op.order = op.cells.Order
	op.pieces, op.slots = splitPieces(op.cells)
	op.bounds = make([]int, len(op.pieces)+1)
	for i, piece := range op.pieces {
		op.bounds[i+1] = piece.hi
	}
	if err := op.locate(ctx, p); err != nil {
		return nil, err
	}
	progress := o.progress("grid", 1)
	for {
		choice.occupied = float64(op.cells.Count())
		cost := choice.cost(p, o)
		if err := o.take("build grid", cost.PeakBytes); err != nil { // the number of occupied cells is known only now
			return nil, err
		}
		op.cost = cost
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
func (op *grid) locate(ctx context.Context, p *rows.Points) error {
	d := op.lattice.D
	for a := range d {
		op.place[a] = make([]float64, p.N+simd.NodeLanes)
		mem.Huge(op.place[a])
	}
	from, to := op.ownChunks()
	return doPieces(ctx, op.workers, from, to, par.Func(func(_, piece int) {
		lo, hi := op.pieces[piece].lo, op.pieces[piece].hi
		for a := range d {
			place := op.place[a][lo:hi]
			p.Column(place, op.cells.Order[lo:hi], a)
			for i, v := range place {
				_, place[i] = op.lattice.Locate(a, v)
			}
		}
	}))
}

// fill makes the tables for p nodes, the weights of points and themselves, and the
// degrees. It returns the sums of exp(-|x|^2/4) over the points around each cell.
func (op *grid) fill(ctx context.Context, p int) (near []float64, err error) {
	op.interpolation = lattice.NewChebyshev(p)
	op.transfer = lattice.GaussTransfer(op.lattice, op.cells, op.interpolation)
	op.self, op.degrees, op.out, op.direct = make([]float64, len(op.cells.Order)), nil, nil, directRows{}
	if err := op.sum(ctx, true); err != nil {
		return nil, err
	}
	bound := lattice.NewPass(lattice.BoundTransfer(op.lattice, op.cells), 1, op.workers.Count(), op.kernels)
	copy(bound.In, op.cells.Counts())
	if err := bound.Do(ctx, op.workers); err != nil {
		return nil, err
	}
	return bound.In, nil
}

// weighSelf sets the interpolated weights of n points, from lo on, and themselves, given
// their basis in scratch: along each axis they are interpolated back and forth within
// their cell.
func (op *grid) weighSelf(scratch *gridScratch, lo, n int) {
	t, m := op.transfer, filled(n)
	self, along := op.self[lo:][:n], scratch.wx[:m]
	for i := range self {
		self[i] = 1
	}
	for a := range t.D {
		basis := scratch.basis[a][:t.P*m]
		op.kernels.NodesToPoints(along, basis, basis, t.Within[a], n)
		for i := range self {
			self[i] *= along[i]
		}
	}
}

// sum sets the degrees and, if first is set, the weights of points and themselves.
func (op *grid) sum(ctx context.Context, first bool) error {
	n := len(op.cells.Order)
	degrees := make([]float64, n)
	if op.degrees == nil {
		op.degrees = degrees // none is read before it is written
	}
	p := &product[float64]{op: &op.base, k: 1}
	pass := newGridPass(op, p)
	p.pass, pass.first = pass, first
	if err := p.run(ctx, rows.NewView(n, 1, 1, degrees), ones(n), nil); err != nil {
		return err
	}
	op.degrees = degrees
	return nil
}

// outside tells whether row i is out of the grid.
func (op *grid) outside(i int) bool { return op.out != nil && op.out[i] }

// gridErrors is what the bound of a row is made of.
type gridErrors struct {
	entry       float64 // of a weight, at most
	near        float64 // factor of the sum of exp(-|x|^2/4) around its cell
	accumulated float64 // share of that of roundings of sums
	far         float64 // all weights out of reach
}

func (op *grid) newErrors() gridErrors {
	t, n := op.transfer, float64(len(op.cells.Order))
	d, delta, r := float64(t.D), op.lattice.AxisError(t.P), op.lattice.Radius-op.lattice.PositionError()
	beyond := math.Exp(-r * r / 2)
	e := gridErrors{entry: max(math.Pow(1+delta, d)-1, beyond), far: (n - 1) * beyond}
	// A step sees differences from a mean, which may be twice as large as those from the
	// weighted mean that the certificate speaks of.
	e.accumulated = op.lattice.SumError(t.P, op.slots)
	e.near = d*delta*math.Pow(1+delta, d-1) + 2*e.accumulated
	return e
}

// certify bounds all rows, before exclude takes any out of the grid. near is the sum
// around each cell.
func (op *grid) certify(ctx context.Context, near []float64) error {
	op.errs = op.newErrors()
	op.cert = Certificate{Kind: Absolute, EntryAbs: op.errs.entry, Row: make([]float32, len(op.degrees))}
	rounding := make([]float64, len(op.pieces))
	if err := op.workers.Do(ctx, len(op.pieces), par.Func(func(_, piece int) {
		at := &op.pieces[piece]
		for cell := at.cell; cell < at.cell+at.cells; cell++ {
			for i := max(int(op.cells.Start[cell]), at.lo); i < min(int(op.cells.Start[cell+1]), at.hi); i++ {
				rounding[piece] = max(rounding[piece], op.certifyRow(i, near[cell], 0))
			}
		}
	})); err != nil {
		return err
	}
	op.cert.Rounding = slices.Max(rounding)
	op.cert.rankRows()
	return nil
}

// certifyRow sets the bound of row i, given the sum around its cell and what else was
// left out, and returns that of its rounding, which counts where the row has a bound.
func (op *grid) certifyRow(i int, near, dropped float64) (rounding float64) {
	eta, e := math.Inf(1), &op.errs
	if degree := op.degrees[i]; degree > 0 {
		eta = (e.near*near+e.far+dropped)/degree*(1+1e-12) + 1e-15
		if eta < 1 {
			rounding = e.accumulated*near/degree + 0x1p-50
		}
	}
	op.cert.Row[i] = rows.RoundUp(eta)
	return rounding
}

// checkPolicy refuses what the options do not allow.
func (op *grid) checkPolicy(o *Options) error {
	if err := o.refuseIsolated(op.cert.Isolated, op.N(), "are too far from all others"); err != nil {
		return err
	}
	if worst := op.cert.worstConnected(); o.Isolated != Keep && worst > o.Tolerance {
		return &ToleranceError{Tolerance: o.Tolerance, Eta: worst, Operator: op.Name()}
	}
	return nil
}

// Close releases the places of the points.
func (op *grid) Close() error { return release(op) }
