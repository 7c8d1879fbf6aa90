package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Dense is the full Gaussian kernel: all pairs, in float64, weights made anew
// for every product. It stores nothing but its points and degrees and is the
// reference the other operators are tested against.
//
// A product costs n^2/2 distances and exponentials. The points are read during
// the operator's life and must not change.
type Dense struct {
	q         *distancer
	bandwidth Bandwidth
	unit      *unitWeights // where the points are unit rows
	blocks    tournament
	bounds    []int // chunks of rows for the finish
	degrees   []float64
	workers   *par.Workers
	progress  *rows.Progress
	cert      Certificate
	cost      Cost
}

// NewDense makes the operator of float32 points; it takes one pass over all
// pairs for the degrees.
func NewDense(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (*Dense, error) {
	pts, o, err := open(p, b, opt)
	if err != nil {
		return nil, err
	}
	return newDense(ctx, pts, nil, b, o)
}

// NewDense64 makes the operator of float64 points.
func NewDense64(ctx context.Context, p blas64.General, b Bandwidth, opt *Options) (*Dense, error) {
	pts, o, err := open64(p, b, opt)
	if err != nil {
		return nil, err
	}
	return newDense(ctx, pts, nil, b, o)
}

// NewUnitDense makes the operator of unit rows. Squared distances are clamped
// to [0, 4], so that every weight is in [exp(-4 Gamma), 1] whatever rounding
// does, and the weight of a null record and any other row is exp(-Gamma) by
// definition. A Gamma above 175 is refused with ErrBandwidth; below it no row
// is isolated unless it is alone.
func NewUnitDense(ctx context.Context, rows *UnitRows, b Bandwidth, opt *Options) (*Dense, error) {
	unit, o, err := rows.open(b, opt)
	if err != nil {
		return nil, err
	}
	return newDense(ctx, rows.points(), unit, b, o)
}

func newDense(ctx context.Context, p *rows.Points, unit *unitWeights, b Bandwidth, o *Options) (*Dense, error) {
	if err := o.refuseCut("dense"); err != nil {
		return nil, buildError("dense", err)
	}
	cost := denseCost(p.N, p.D, o)
	if cost.PeakBytes > o.BudgetBytes {
		return nil, &MemoryError{What: "build dense", Need: cost.PeakBytes, Budget: o.BudgetBytes}
	}
	op := &Dense{
		bandwidth: b, unit: unit, blocks: tournament{par.Blocks(p.N, blockRows)},
		bounds: chunkBounds(p.N, chunkRows), workers: o.Workers, cost: cost,
	}
	var err error
	if unit != nil {
		op.q, err = newUnitDistancer(ctx, p, o.Workers)
	} else {
		op.q, err = newDistancer(ctx, p, nil, o.Workers)
	}
	if err != nil {
		return nil, buildError("dense", err)
	}
	op.progress = o.progress("degrees", op.blocks.rounds())
	pass := newDensePass(op, ones(p.N))
	if err := pass.run(ctx, ones(p.N)); err != nil {
		return nil, err
	}
	op.degrees = pass.wx
	for i, d := range op.degrees {
		if d < minDegree && unit == nil {
			op.degrees[i] = 0
		}
	}
	op.progress = o.progress("product", op.blocks.rounds())
	op.certify()
	if err := o.refuseIsolated(op.cert.Isolated, p.N, "have no neighbour whose weight does not underflow"); err != nil {
		return nil, buildError("dense", err)
	}
	return op, nil
}

func denseCost(n, d int, o *Options) Cost {
	pairs := float64(n) * float64(n) / 2
	perPair := denseExpSeconds + float64(d)*distanceSeconds + 2*float64(o.Columns)*axpySeconds
	flops := pairs * (2*float64(d) + 10 + 4*float64(o.Columns))
	resident := int64(n) * 16
	peak := mem.Saturate(float64(resident) + 8*float64(n)*(float64(o.Columns)+1) + float64(o.Workers.Count())*float64(distanceRoomBytes(d)))
	return Cost{
		BuildSeconds: pairs * (perPair - 2*float64(o.Columns-1)*axpySeconds), StepSeconds: pairs * perPair,
		ResidentBytes: resident, PeakBytes: peak, StreamedBytes: mem.Saturate(pairs / blockRows * float64(d) * 16), Flops: flops,
	}
}

func denseCandidate(_ context.Context, p *rows.Points, b Bandwidth, pr *profile, o *Options) Candidate {
	c := everyPair(p)
	c.Cost, c.Eta = denseCost(p.N, p.D, o), weightRel(b, p.D, pr.most)
	c.Feasible, c.Reason = true, "exact, every pair at every step"
	return c
}

func buildDense(ctx context.Context, p *rows.Points, b Bandwidth, _ *Candidate, o *Options) (Operator, error) {
	return newDense(ctx, p, nil, b, o)
}

// Name returns "dense".
func (op *Dense) Name() string { return "dense" }

// N returns the number of points.
func (op *Dense) N() int { return op.q.n }

// Order returns nil: rows are in the order given.
func (op *Dense) Order() []uint32 { return nil }

// Degrees returns W 1.
func (op *Dense) Degrees() []float64 { return op.degrees }

// Apply sets dst = W x.
func (op *Dense) Apply(ctx context.Context, dst, x blas32.General) error {
	return denseApply(ctx, op, rows.View32(dst), rows.View32(x))
}

// Apply64 sets dst = W x in float64 throughout.
func (op *Dense) Apply64(ctx context.Context, dst, x blas64.General) error {
	return denseApply(ctx, op, rows.View64(dst), rows.View64(x))
}

// Step sets dst to the iterate after x.
func (op *Dense) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	return denseStep(ctx, op, rows.View32(dst), rows.View32(x), s, st)
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (op *Dense) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	return denseStep(ctx, op, rows.View64(dst), rows.View64(x), s, st)
}

// Certificate is exact up to rounding, isolated rows aside.
func (op *Dense) Certificate() Certificate { return op.cert }

func (op *Dense) certify() {
	rel := op.entryRel()
	op.cert = Certificate{Kind: Exact, EntryRel: rel, RowMax: rel, RowP99: rel, Rounding: float64(op.q.n) * 0x1p-53}
	eta := make([]float64, op.q.n)
	for i, d := range op.degrees {
		eta[i] = rel
		if d == 0 {
			eta[i] = math.Inf(1)
			op.cert.Isolated++
		}
	}
	if op.cert.Isolated > 0 {
		op.cert.setRows(eta)
	}
}

func (op *Dense) entryRel() float64 {
	if op.unit != nil {
		return op.unit.entryRel(op.q.p.D)
	}
	return weightRel(op.bandwidth, op.q.p.D, op.q.most)
}

// weight returns the weight of rows i and j whose filled squared distance is d2.
func (op *Dense) weight(i, j int, d2 float64) float64 {
	if op.unit != nil {
		return op.unit.weight(i, j, d2)
	}
	return op.q.weight(op.bandwidth, i, j, d2)
}

// Cost returns what the operator takes.
func (op *Dense) Cost() Cost { return op.cost }

// Close lets go of the points.
func (op *Dense) Close() error {
	*op = Dense{}
	return nil
}

func denseApply[T rows.Float](ctx context.Context, op *Dense, dst, x rows.View[T]) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := checkFinite("x", x); err != nil {
		return err
	}
	pass := newDensePass(op, x)
	if err := pass.run(ctx, x); err != nil {
		return err
	}
	for i := range dst.Rows {
		out := dst.Row(i)
		for c, v := range pass.wx[i*x.Cols:][:x.Cols] {
			out[c] = T(v)
		}
		if op.degrees[i] == 0 {
			clear(out)
		}
	}
	return nil
}

func denseStep[T rows.Float](ctx context.Context, op *Dense, dst, x rows.View[T], s *Step, st *Stats) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := st.begin(s, op.degrees, op.bounds, x.Cols); err != nil {
		return err
	}
	pass, ok := st.operator.(*densePass[T])
	if !ok || pass.op != op || pass.x.Cols != x.Cols {
		pass = newDensePass(op, x)
		st.operator = pass
	}
	if err := pass.run(ctx, x); err != nil {
		return err
	}
	pass.dst, pass.stats, pass.finishing = dst, st, true
	err := op.workers.Do(ctx, len(op.bounds)-1, pass)
	pass.dst, pass.stats, pass.finishing = rows.View[T]{}, nil, false
	if err != nil {
		return err
	}
	st.end()
	return nil
}

// densePass is the state of one product; it is reused from step to step.
type densePass[T rows.Float] struct {
	op    *Dense
	x     rows.View[T]
	wx    []float64       // n x k
	rooms []*distanceRoom // one per worker
	round int

	finishing bool // second half of a step: rows of wx become rows of dst
	dst       rows.View[T]
	stats     *Stats
}

func newDensePass[T rows.Float](op *Dense, x rows.View[T]) *densePass[T] {
	pass := &densePass[T]{op: op, x: x, wx: make([]float64, x.Rows*x.Cols), rooms: make([]*distanceRoom, op.workers.Count())}
	for w := range pass.rooms {
		pass.rooms[w] = newDistanceRoom(op.q.p.D)
	}
	return pass
}

// run sets wx = W x, round after round of the tournament.
func (pass *densePass[T]) run(ctx context.Context, x rows.View[T]) error {
	pass.x = x
	clear(pass.wx)
	if err := pass.op.blocks.play(ctx, pass.op.workers, pass, &pass.round, pass.op.progress); err != nil {
		return fmt.Errorf("kernel: dense: %w", err)
	}
	return nil
}

// Run plays one game, or finishes one chunk of rows.
func (pass *densePass[T]) Run(worker, piece int) {
	op, k := pass.op, pass.x.Cols
	if pass.finishing {
		lo, hi := op.bounds[piece], op.bounds[piece+1]
		for i := lo; i < hi; i++ {
			finishRow(&pass.stats.finish, &pass.stats.partials.chunk[piece], i, op.degrees[i], pass.wx[i*k:][:k], pass.x.Row(i), pass.dst.Row(i))
		}
		return
	}
	a, b, ok := op.blocks.game(pass.round, piece)
	if !ok {
		return
	}
	alo, ahi := par.Block(a, op.q.n, blockRows)
	blo, bhi := par.Block(b, op.q.n, blockRows)
	t := pass.rooms[worker]
	op.q.fill(t, alo, ahi, blo, bhi)
	for i := alo; i < ahi; i++ {
		first := blo
		if a == b {
			first = i + 1 // every pair once
		}
		d2 := t.d2[(i-alo)*t.stride:]
		xi, yi := pass.x.Row(i), pass.wx[i*k:][:k]
		for j := first; j < bhi; j++ {
			w := op.weight(i, j, d2[j-blo])
			xj, yj := pass.x.Row(j), pass.wx[j*k:][:k]
			for c := range yi {
				yi[c] += w * float64(xj[c])
				yj[c] += w * float64(xi[c])
			}
		}
	}
}
