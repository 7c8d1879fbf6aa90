// Package pairwise has the operators that measure every pair, block against block: dense, which
// stores nothing, and background, which stores the weights within a radius.
package pairwise

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/par"
)

// Dense is the Gaussian kernel of every pair, in float64, weights recomputed for every
// product. It stores nothing but its degrees and is the reference that the other operators
// are tested against. A product costs n^2/2 distances and exponentials.
//
// Of unit rows the degrees are not summed when it is built: the first product sums them
// along with its columns, so that a caller who takes one step measures all pairs once.
type Dense struct {
	step.WideBase
	q         *distance.Distancer
	bandwidth base.Bandwidth
	unit      *distance.UnitWeights // nil when the points are not unit rows
	blocks    distance.Tournament
	progress  *rows.Progress
	Known     atomic.Bool // the degrees are set
	setting   sync.Mutex  // held while they are
}

// NewDense builds the operator dense. unit are the weights of unit rows, nil for other points.
func NewDense(ctx context.Context, p *rows.Points, unit *distance.UnitWeights, b base.Bandwidth, o *base.Options) (*Dense, error) {
	if err := o.RefuseFixed("dense"); err != nil {
		return nil, base.BuildError("dense", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, base.BuildError("dense", err)
	}
	cost := DenseCost(p.N, p.D, o)
	if err := o.Take("build dense", cost.PeakBytes); err != nil {
		return nil, err
	}
	op := &Dense{bandwidth: b, unit: unit, blocks: distance.Tournament{Blocks: split.Blocks(p.N, distance.BlockRows)}}
	op.Base, op.Bounds, op.Costs = step.NewBase("dense", o), base.ChunkBounds(p.N, base.ChunkRows), cost
	op.Pass32 = func(p *step.Product[float32]) step.Pass[float32] { return newDensePass(op, p) }
	op.Pass64 = func(p *step.Product[float64]) step.Pass[float64] { return newDensePass(op, p) }
	op.RowSums = make([]float64, p.N)
	var err error
	if unit != nil {
		op.q, err = distance.NewUnitDistancer(ctx, p, o.Workers, o.Kernels)
	} else {
		op.q, err = distance.NewDistancer(ctx, p, nil, o.Workers, o.Kernels)
	}
	if err != nil {
		return nil, base.BuildError("dense", err)
	}
	if unit == nil || p.N == 1 {
		op.progress = o.Stage("degrees", op.blocks.Rounds())
		if err := op.SumDegrees(ctx, op.Workers, op.Ranks); err != nil {
			return nil, base.ProductError("dense", err)
		}
	}
	op.progress = o.Stage("product", op.blocks.Rounds())
	op.certify()
	if err := o.RefuseIsolated(op.Cert.Isolated, p.N, "have no neighbour whose weight does not underflow"); err != nil {
		return nil, base.BuildError("dense", err)
	}
	if unit != nil {
		op.Costs.BuildSeconds = float64(p.N) * float64(p.D) * base.DistanceSeconds
	}
	return op, nil
}

// SumDegrees sums the degrees by a pass of its own.
func (op *Dense) SumDegrees(ctx context.Context, workers *par.Workers, ranks *par.Ranks) error {
	return newDensePass(op, &step.Product[float64]{Op: &op.Base}).sum(ctx, workers, ranks)
}

// setDegrees keeps the degrees that a pass has summed. All passes sum the same bits.
func (op *Dense) setDegrees(sums []float64) {
	op.setting.Lock()
	defer op.setting.Unlock()
	if op.Known.Load() {
		return
	}
	copy(op.RowSums, sums)
	for i, d := range op.RowSums {
		if d < distance.MinDegree && op.unit == nil {
			op.RowSums[i] = 0
		}
	}
	op.Known.Store(true)
}

// Degrees returns W 1. Where no product has summed it yet, every rank sums it by itself: this
// is no call that could end early with the other ranks.
func (op *Dense) Degrees() []float64 {
	if op.q == nil || op.Known.Load() {
		return op.RowSums
	}
	if op.SumDegrees(context.Background(), op.Workers, nil) != nil { // they are closed, or busy with the caller
		if err := op.SumDegrees(context.Background(), nil, nil); err != nil {
			panic(err)
		}
	}
	return op.RowSums
}

// Step sets dst to the iterate after x.
func (op *Dense) Step(ctx context.Context, dst, x blas32.General, s *step.Step, st *step.Stats) error {
	if err := op.degreesFor(ctx, s); err != nil {
		return err
	}
	return op.WideBase.Step(ctx, dst, x, s, st)
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (op *Dense) Step64(ctx context.Context, dst, x blas64.General, s *step.Step, st *step.Stats) error {
	if err := op.degreesFor(ctx, s); err != nil {
		return err
	}
	return op.WideBase.Step64(ctx, dst, x, s, st)
}

// degreesFor sums the degrees before a step in form Attract, which begins with their mean.
func (op *Dense) degreesFor(ctx context.Context, s *step.Step) error {
	if s == nil || s.Form != step.Attract || op.Known.Load() {
		return nil
	}
	return base.ProductError("dense", op.SumDegrees(ctx, op.Workers, op.Ranks))
}

// DenseCost estimates the cost for n points in d dimensions.
func DenseCost(n, d int, o *base.Options) base.Cost {
	pairs, columns := float64(n)*float64(n)/2, float64(o.Columns)
	perPair := base.DenseWeightSeconds + base.DistanceSecondsIn(d)
	flops := pairs * (2*float64(d) + 30 + 4*columns)
	resident := int64(n) * 16
	peak := mem.Saturate(float64(resident) + 16*float64(n+8)*(columns+1) + float64(o.Workers.Count())*(float64(distance.DistanceScratchBytes(d))+8*columns))
	return base.Cost{
		BuildSeconds: pairs * (perPair + denseColumnSeconds), StepSeconds: pairs * (perPair + columns*denseColumnSeconds),
		ResidentBytes: resident, PeakBytes: peak, StreamedBytes: mem.Saturate(pairs / distance.BlockRows * float64(d) * 16), Flops: flops,
	}
}

// DenseCandidate plans dense.
func DenseCandidate(_ context.Context, p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) step.Candidate {
	c := step.EveryPair(p.N)
	c.Cost, c.Eta = DenseCost(p.N, p.D, o), distance.WeightRel(b, p.D, pr.Most)
	c.Feasible, c.Reason = true, "exact, every pair at every step"
	c.Build = func(ctx context.Context, o *base.Options) (step.Operator, error) {
		return step.OrNil[step.Operator](NewDense(ctx, p, nil, b, o))
	}
	return c
}

// Close lets go of the points.
func (op *Dense) Close() error { return step.Release(op) }

// certify sets the certificate: exact up to rounding, isolated rows aside. Where the
// degrees are not known yet, no row is isolated.
func (op *Dense) certify() {
	rel := op.entryRel()
	op.Cert = base.Certificate{Kind: base.Exact, EntryRel: rel, RowMax: rel, RowP99: rel, Rounding: float64(op.q.N) * 0x1p-53}
	if !op.Known.Load() {
		return
	}
	eta := make([]float64, op.q.N)
	for i, d := range op.RowSums {
		eta[i] = rel
		if d == 0 {
			eta[i] = math.Inf(1)
			op.Cert.Isolated++
		}
	}
	if op.Cert.Isolated > 0 {
		op.Cert.SetRows(eta)
	}
}

func (op *Dense) entryRel() float64 {
	if op.unit != nil {
		return op.unit.EntryRel(op.q.P.D)
	}
	return distance.WeightRel(op.bandwidth, op.q.P.D, op.q.Most)
}

// weigh turns the filled squared distances of row i to the rows from lo on into weights.
func (op *Dense) weigh(d2 []float64, i, lo int) {
	if op.unit != nil {
		op.unit.Weigh(op.Kernels, d2, i, lo)
	} else {
		op.q.Weigh(op.bandwidth, d2, i, lo)
	}
}

// LeastDense is what the operator takes at the least with n points in d dimensions.
func LeastDense(n, d int, o *base.Options) int64 { return DenseCost(n, d, o).PeakBytes }
