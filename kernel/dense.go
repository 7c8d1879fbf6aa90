package kernel

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// dense is the Gaussian kernel of every pair, in float64, weights made anew for every
// product. It stores nothing but its degrees and is the reference that the other operators
// are tested against. A product costs n^2/2 distances and exponentials.
//
// Of unit rows the degrees are not summed when it is built: the first product sums them
// beside its columns, so that a caller who takes one step measures all pairs once.
type dense struct {
	wideBase
	q         *distancer
	bandwidth Bandwidth
	unit      *unitWeights // nil when the points are not unit rows
	blocks    tournament
	progress  *rows.Progress
	known     atomic.Bool // the degrees are set
	setting   sync.Mutex  // held while they are
}

// NewDense builds the operator dense of points in either precision: the Gaussian kernel of
// every pair, in float64. Building it takes one pass over all pairs, for the degrees. The
// operator reads the points as long as it lives; they must not change.
func NewDense[M points.Matrix](ctx context.Context, p M, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := openEither(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	return orNil[Operator64](newDense(ctx, pts, nil, b, o))
}

// NewUnitDense builds the operator dense of unit rows. Squared distances are
// at least 0, and weights at least exp(-4 Gamma), so that every weight is in
// [exp(-4 Gamma), 1] whatever rounding does. The weight between a null record and any other row is exp(-Gamma) by
// definition. A Gamma above 175 is refused with ErrBandwidth; up to 175 no row
// is isolated unless it is the only one. Building it measures no pair: the degrees come
// with the first product, or when they are asked for.
func NewUnitDense(ctx context.Context, rows *UnitRows, b Bandwidth, opt *Options) (Operator64, error) {
	unit, o, err := rows.open(ctx, b, opt)
	if err != nil {
		return nil, err
	}
	return orNil[Operator64](newDense(ctx, rows.points(), unit, b, o))
}

func newDense(ctx context.Context, p *rows.Points, unit *unitWeights, b Bandwidth, o *Options) (*dense, error) {
	if err := o.refuseFixed("dense"); err != nil {
		return nil, buildError("dense", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, buildError("dense", err)
	}
	cost := denseCost(p.N, p.D, o)
	if err := o.take("build dense", cost.PeakBytes); err != nil {
		return nil, err
	}
	op := &dense{bandwidth: b, unit: unit, blocks: tournament{split.Blocks(p.N, blockRows)}}
	op.base, op.bounds, op.cost = newBase("dense", o), chunkBounds(p.N, chunkRows), cost
	op.pass32 = func(p *product[float32]) pass[float32] { return newDensePass(op, p) }
	op.pass64 = func(p *product[float64]) pass[float64] { return newDensePass(op, p) }
	op.degrees = make([]float64, p.N)
	var err error
	if unit != nil {
		op.q, err = newUnitDistancer(ctx, p, o.Workers, o.Kernels)
	} else {
		op.q, err = newDistancer(ctx, p, nil, o.Workers, o.Kernels)
	}
	if err != nil {
		return nil, buildError("dense", err)
	}
	if unit == nil || p.N == 1 {
		op.progress = o.progress("degrees", op.blocks.rounds())
		if err := op.sumDegrees(ctx, op.workers, op.ranks); err != nil {
			return nil, productError("dense", err)
		}
	}
	op.progress = o.progress("product", op.blocks.rounds())
	op.certify()
	if err := o.refuseIsolated(op.cert.Isolated, p.N, "have no neighbour whose weight does not underflow"); err != nil {
		return nil, buildError("dense", err)
	}
	if unit != nil {
		op.cost.BuildSeconds = float64(p.N) * float64(p.D) * distanceSeconds
	}
	return op, nil
}

// sumDegrees sums the degrees by a pass of its own.
func (op *dense) sumDegrees(ctx context.Context, workers *par.Workers, ranks *par.Ranks) error {
	return newDensePass(op, &product[float64]{op: &op.base}).sum(ctx, workers, ranks)
}

// setDegrees keeps the degrees that a pass has summed. All passes sum the same bits.
func (op *dense) setDegrees(sums []float64) {
	op.setting.Lock()
	defer op.setting.Unlock()
	if op.known.Load() {
		return
	}
	copy(op.degrees, sums)
	for i, d := range op.degrees {
		if d < minDegree && op.unit == nil {
			op.degrees[i] = 0
		}
	}
	op.known.Store(true)
}

// Degrees returns W 1. Where no product has summed it yet, every rank sums it by itself: this
// is no call that could end early with the other ranks.
func (op *dense) Degrees() []float64 {
	if op.q == nil || op.known.Load() {
		return op.degrees
	}
	if op.sumDegrees(context.Background(), op.workers, nil) != nil { // they are closed, or busy with the caller
		if err := op.sumDegrees(context.Background(), nil, nil); err != nil {
			panic(err)
		}
	}
	return op.degrees
}

// Step sets dst to the iterate after x.
func (op *dense) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	if err := op.degreesFor(ctx, s); err != nil {
		return err
	}
	return op.wideBase.Step(ctx, dst, x, s, st)
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (op *dense) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	if err := op.degreesFor(ctx, s); err != nil {
		return err
	}
	return op.wideBase.Step64(ctx, dst, x, s, st)
}

// degreesFor sums the degrees before a step in form Attract, which begins with their mean.
func (op *dense) degreesFor(ctx context.Context, s *Step) error {
	if s == nil || s.Form != Attract || op.known.Load() {
		return nil
	}
	return productError("dense", op.sumDegrees(ctx, op.workers, op.ranks))
}

func denseCost(n, d int, o *Options) Cost {
	pairs, columns := float64(n)*float64(n)/2, float64(o.Columns)
	perPair := denseWeightSeconds + distanceSecondsIn(d)
	flops := pairs * (2*float64(d) + 30 + 4*columns)
	resident := int64(n) * 16
	peak := mem.Saturate(float64(resident) + 16*float64(n+8)*(columns+1) + float64(o.Workers.Count())*(float64(distanceScratchBytes(d))+8*columns))
	return Cost{
		BuildSeconds: pairs * (perPair + denseColumnSeconds), StepSeconds: pairs * (perPair + columns*denseColumnSeconds),
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
	return orNil[Operator](newDense(ctx, p, nil, b, o))
}

// Close lets go of the points.
func (op *dense) Close() error { return release(op) }

// certify sets the certificate: exact up to rounding, isolated rows aside. Where the
// degrees are not known yet, no row is isolated.
func (op *dense) certify() {
	rel := op.entryRel()
	op.cert = Certificate{Kind: Exact, EntryRel: rel, RowMax: rel, RowP99: rel, Rounding: float64(op.q.n) * 0x1p-53}
	if !op.known.Load() {
		return
	}
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

func (op *dense) entryRel() float64 {
	if op.unit != nil {
		return op.unit.entryRel(op.q.p.D)
	}
	return weightRel(op.bandwidth, op.q.p.D, op.q.most)
}

// weigh turns the filled squared distances of row i to the rows from lo on into weights.
func (op *dense) weigh(d2 []float64, i, lo int) {
	if op.unit != nil {
		op.unit.weigh(op.kernels, d2, i, lo)
	} else {
		op.q.weigh(op.bandwidth, d2, i, lo)
	}
}
