package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// Grid is the Gaussian kernel in 1 to 4 dimensions, interpolated. The box of the
// points is cut into cells of half-width rho and each cell has p Chebyshev nodes
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
// That bound is met by close pairs. For cells that are x apart it is exp(-x^2/4)
// times smaller along each axis, and so the bound of a row,
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
type Grid struct {
	cells         *lattice.Sorted
	lattice       *lattice.Lattice
	transfer      *lattice.Transfer
	interpolation lattice.Chebyshev
	place         [lattice.MaxAxes][]float64 // of each sorted point in its cell, from -1 to 1, and zeros that fill the lanes
	self          []float64                  // weight of each point and itself, as interpolated
	degrees       []float64
	out           []bool // rows out of the grid; nil if there are none
	direct        directRows
	pieces        []gridPiece
	slots         int
	bounds        []int // rows of the pieces
	errs          gridErrors
	cert          Certificate
	cost          Cost
	workers       *par.Workers
	kernels       *simd.Kernels
}

// NewGrid makes the operator. The points are not needed afterwards. Cells and nodes
// follow from the points and Options.Tolerance.
func NewGrid(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (*Grid, error) {
	pts, o, err := open(p, b, opt)
	if err != nil {
		return nil, err
	}
	if err := o.refuseCut("grid"); err != nil {
		return nil, buildError("grid", err)
	}
	choice, err := chooseGrid(ctx, pts, b, o)
	if err != nil {
		return nil, buildError("grid", err)
	}
	return newGrid(ctx, pts, b, choice, o)
}

func newGrid(ctx context.Context, p *rows.Points, b Bandwidth, choice *gridChoice, o *Options) (*Grid, error) {
	op, err := choice.build(ctx, p, b, o)
	if err != nil {
		return nil, buildError("grid", err)
	}
	return op, nil
}

// build makes the operator of the chosen cells and nodes, or of some more nodes if these
// miss the tolerance.
func (choice *gridChoice) build(ctx context.Context, p *rows.Points, b Bandwidth, o *Options) (*Grid, error) {
	op := &Grid{lattice: &choice.lattice, workers: o.Workers, kernels: o.Kernels}
	if need := choice.cost(p, o).PeakBytes; need > o.BudgetBytes {
		return nil, &MemoryError{What: "build grid", Need: need, Budget: o.BudgetBytes}
	}
	var err error
	if op.cells, err = op.lattice.SortPoints(ctx, p, 1, choice.all, o.Workers); err != nil {
		return nil, err
	}
	op.pieces, op.slots = cutPieces(op.cells)
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
		if cost.PeakBytes > o.BudgetBytes { // the number of occupied cells is known only now
			return nil, &MemoryError{What: "build grid", Need: cost.PeakBytes, Budget: o.BudgetBytes}
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

// locate finds the place of each point in its cell.
func (op *Grid) locate(ctx context.Context, p *rows.Points) error {
	d := op.lattice.D
	for a := range d {
		op.place[a] = make([]float64, p.N+simd.NodeLanes)
		mem.Huge(op.place[a])
	}
	return op.workers.Do(ctx, len(op.pieces), par.Func(func(_, piece int) {
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
func (op *Grid) fill(ctx context.Context, p int) (near []float64, err error) {
	op.interpolation = lattice.NewChebyshev(p)
	op.transfer = lattice.GaussTransfer(op.lattice, op.cells, op.interpolation)
	op.self, op.degrees, op.out, op.direct = make([]float64, len(op.cells.Order)), nil, nil, directRows{}
	pass := newGridPass[float64](op, 1)
	pass.first = true
	if err := op.sum(ctx, pass); err != nil {
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
// their basis in room: along each axis they are interpolated back and forth within
// their cell.
func (op *Grid) weighSelf(room *gridRoom, lo, n int) {
	t, m := op.transfer, filled(n)
	self, along := op.self[lo:][:n], room.wx[:m]
	for i := range self {
		self[i] = 1
	}
	for a := range t.D {
		basis := room.basis[a][:t.P*m]
		op.kernels.NodesToPoints(along, basis, basis, t.Within[a], n)
		for i := range self {
			self[i] *= along[i]
		}
	}
}

// sum sets the degrees.
func (op *Grid) sum(ctx context.Context, pass *gridPass[float64]) error {
	n := len(op.cells.Order)
	degrees := make([]float64, n)
	if op.degrees == nil {
		op.degrees = degrees // none is read before it is written
	}
	if err := pass.run(ctx, rows.NewView(n, 1, 1, degrees), ones(n), nil); err != nil {
		return err
	}
	op.degrees = degrees
	return nil
}

// outside tells whether row i is out of the grid.
func (op *Grid) outside(i int) bool { return op.out != nil && op.out[i] }

// gridErrors is what the bound of a row is made of.
type gridErrors struct {
	entry       float64 // of a weight, at most
	near        float64 // factor of the sum of exp(-|x|^2/4) around its cell
	accumulated float64 // share of that of roundings of sums
	far         float64 // all weights out of reach
}

func (op *Grid) newErrors() gridErrors {
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
func (op *Grid) certify(ctx context.Context, near []float64) error {
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
func (op *Grid) certifyRow(i int, near, dropped float64) (rounding float64) {
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
func (op *Grid) checkPolicy(o *Options) error {
	if err := o.refuseIsolated(op.cert.Isolated, op.N(), "are too far from all others"); err != nil {
		return err
	}
	if worst := op.cert.worstConnected(); o.Isolated != Keep && worst > o.Tolerance {
		return &ToleranceError{Tolerance: o.Tolerance, Eta: worst, Operator: op.Name()}
	}
	return nil
}

// Name returns "grid".
func (op *Grid) Name() string { return "grid" }

// N returns the number of points.
func (op *Grid) N() int { return len(op.degrees) }

// Order returns the given row of each row of the operator.
func (op *Grid) Order() []uint32 { return op.cells.Order }

// Degrees returns W 1.
func (op *Grid) Degrees() []float64 { return op.degrees }

// Certificate bounds the interpolation.
func (op *Grid) Certificate() Certificate { return op.cert }

// Cost returns what the operator takes.
func (op *Grid) Cost() Cost { return op.cost }

// Close releases the places of the points.
func (op *Grid) Close() error {
	*op = Grid{}
	return nil
}

// Apply sets dst = W x, summed in float64.
func (op *Grid) Apply(ctx context.Context, dst, x blas32.General) error {
	return gridApply(ctx, op, rows.View32(dst), rows.View32(x))
}

// Apply64 sets dst = W x in float64 throughout.
func (op *Grid) Apply64(ctx context.Context, dst, x blas64.General) error {
	return gridApply(ctx, op, rows.View64(dst), rows.View64(x))
}

// Step sets dst to the iterate after x.
func (op *Grid) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	return gridStep(ctx, op, rows.View32(dst), rows.View32(x), s, st)
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (op *Grid) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	return gridStep(ctx, op, rows.View64(dst), rows.View64(x), s, st)
}

func gridApply[T rows.Float](ctx context.Context, op *Grid, dst, x rows.View[T]) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := checkFinite("x", x); err != nil {
		return err
	}
	return productError("grid", newGridPass[T](op, x.Cols).run(ctx, dst, x, nil))
}

func gridStep[T rows.Float](ctx context.Context, op *Grid, dst, x rows.View[T], s *Step, st *Stats) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := st.begin(s, op.degrees, op.bounds, x.Cols); err != nil {
		return err
	}
	pass, ok := st.operator.(*gridPass[T])
	if !ok || pass.op != op || pass.k != x.Cols {
		pass = newGridPass[T](op, x.Cols)
		st.operator = pass
	}
	pass.grow(&st.partials)
	if err := pass.run(ctx, dst, x, st); err != nil {
		return productError("grid", err)
	}
	st.end()
	return nil
}
