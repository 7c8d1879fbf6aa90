package pairwise

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// Background is the Gaussian kernel of unit rows within a radius and one
// constant weight beyond it:
//
//	w_ij = exp(-Gamma |x_i - x_j|^2)  if |x_i - x_j| <= radius,   else weight,
//
// for i != j. What is stored is sparse, S_ij = w_ij - weight in float64 for the
// pairs within the radius, and the rest is of rank one,
//
//	W = S + weight (11' - I),   (W x)_i = weight (sum_j x_j - x_i) + (S x)_i,
//
// so a product costs as much as that of a truncated kernel. Unlike that one it
// has no small degrees: all weights are in [weight, 1], and there is a bound on
// what one record can change.
//
// The null record has the weight exp(-Gamma) to every other row if radius >= 1
// and the constant weight otherwise, by definition and not by a distance.
//
// Whether a pair is within the radius, and its weight, are symmetric functions
// of its two rows alone: no bit of them depends on where the rows stand.
type Background struct {
	step.WideBase
	ptr      []uint64
	ind      []uint32 // in the order of the rounds of the search
	Val      []float64
	constant float64
}

// NewBackground builds the operator background.
func NewBackground(ctx context.Context, rows *distance.UnitRows, b base.Bandwidth, radius, weight float64, o *base.Options) (*Background, error) {
	unit, err := rows.Weights(b)
	if err != nil {
		return nil, err
	}
	if err := o.RefuseFixed("background"); err != nil {
		return nil, base.BuildError("background", err)
	}
	if !(radius > 0 && radius <= 2) {
		return nil, fmt.Errorf("kernel: build background: %w: radius %g, want one in (0, 2]", base.ErrBackground, radius)
	}
	edge := b.Weight(radius * radius)
	if !(weight >= unit.Low*(1-1e-12) && weight <= edge*(1+1e-12)) {
		return nil, fmt.Errorf("kernel: build background: %w: weight %g, want one in [%g, %g]", base.ErrBackground, weight, unit.Low, edge)
	}
	n, d := rows.N(), rows.Dim()
	held := backgroundBytes(n, d, o)
	if err := o.Take("build background", held); err != nil {
		return nil, err
	}
	op := &Background{constant: weight}
	op.Base, op.Bounds = step.NewBase("background", o), base.ChunkBounds(n, base.ChunkRows)
	op.Pass32 = func(p *step.Product[float32]) step.Pass[float32] { return newBackgroundPass(op, p) }
	op.Pass64 = func(p *step.Product[float64]) step.Pass[float64] { return newBackgroundPass(op, p) }
	search, err := newBackgroundSearch(ctx, rows, unit, radius, weight, o)
	if err != nil {
		return nil, base.BuildError("background", err)
	}
	if err := search.run(ctx, o, "count neighbours"); err != nil {
		return nil, base.BuildError("background", err)
	}
	if op.ptr, err = search.allocate(held, o); err != nil {
		return nil, err
	}
	if err := search.run(ctx, o, "fill weights"); err != nil {
		return nil, base.BuildError("background", err)
	}
	op.ind, op.Val = search.ind, search.val
	op.Costs = backgroundCost(n, d, float64(len(op.Val)), o)
	op.certify(max(edge-weight, weight-unit.Low, 0), unit.EntryRel(d))
	if err := o.RefuseIsolated(op.Cert.Isolated, n, "have no neighbour"); err != nil {
		return nil, base.BuildError("background", err)
	}
	return op, nil
}

// certify sets the degrees, and the certificate relative to the kernel of every pair: a weight
// beyond the radius is off by at most gap, the larger of exp(-Gamma radius^2) - weight and
// weight - exp(-4 Gamma). The certificate depends on the data, like every certificate: it
// says what the background costs, not what one record can change. Taken as a kernel of
// its own, the background is exact but for EntryRel and Rounding.
func (op *Background) certify(gap, entryRel float64) {
	n, longest := len(op.ptr)-1, 0
	op.RowSums = make([]float64, n)
	eta := make([]float64, n)
	op.Cert = base.Certificate{Kind: base.Replaced, EntryRel: entryRel + 0x1p-53} // a stored value is rounded once
	all := float64(op.constant * float64(n-1))                                    // not fused into the sums below
	for i := range op.RowSums {
		_, val := op.Row(i)
		sum := 0.0
		for _, v := range val {
			sum += v
		}
		op.RowSums[i] = all + sum // as a product adds them up
		longest = max(longest, len(val))
		beyond := float64(n - 1 - len(val))
		eta[i] = op.Cert.EntryRel
		if beyond > 0 {
			eta[i] += beyond * gap * (1 + 1e-9) / op.RowSums[i]
		}
	}
	op.Cert.Rounding = float64(n+longest+8) * 0x1p-53
	if n == 1 {
		op.Cert.Isolated, eta[0] = 1, math.Inf(1)
	}
	op.Cert.SetRows(eta)
}

// Row returns the stored weights of row i, less the constant.
func (op *Background) Row(i int) (ind []uint32, val []float64) {
	lo, hi := op.ptr[i], op.ptr[i+1]
	return op.ind[lo:hi], op.Val[lo:hi]
}

// backgroundBytes is what the operator takes in addition to the stored entries: counts
// or pointers and their copy, norms, degrees, and the bounds of all rows,
// which are sorted; a DistanceScratch for each worker.
func backgroundBytes(n, d int, o *base.Options) int64 {
	const perRow = 8 + 8 + 8 + 8 + 8 + 4 + 4
	return mem.Saturate(perRow*float64(n) + float64(o.Workers.Count())*float64(distance.DistanceScratchBytes(d)))
}

// backgroundEntry is the memory of a stored entry.
const backgroundEntry = 4 + 8

func backgroundCost(n, d int, nnz float64, o *base.Options) base.Cost {
	rows, columns := float64(n), float64(o.Columns)
	pairs := rows * rows / 2
	return base.Cost{
		BuildSeconds:  2*pairs*(base.DistanceSecondsIn(d)+farSeconds) + nnz*(expSeconds/2+2*float64(d)*base.DistanceSeconds),
		StepSeconds:   nnz*(base.EntrySeconds+columns*base.AxpySeconds) + rows*columns*(finishSeconds+base.AxpySeconds),
		ResidentBytes: mem.Saturate(backgroundEntry*nnz + rows*(8+8+4)),
		PeakBytes:     mem.Saturate(backgroundEntry*nnz + float64(backgroundBytes(n, d, o))),
		StreamedBytes: mem.Saturate(backgroundEntry*nnz + rows*(24*columns+16)),
		Flops:         2 * (nnz + 3*rows) * columns,
		NNZ:           mem.Saturate(nnz),
	}
}

// Close releases the weights.
func (op *Background) Close() error { return step.Release(op) }

// backgroundPass is the pass of background: the sums of x by chunk, and then the rows.
type backgroundPass[T rows.Float] struct {
	*step.Product[T]
	op      *Background
	wx      []float64 // a row of k for each worker
	partial []float64 // sums of x by chunk, chunks x k
	total   []float64 // their sum
}

func newBackgroundPass[T rows.Float](op *Background, p *step.Product[T]) *backgroundPass[T] {
	return &backgroundPass[T]{
		Product: p, op: op, wx: make([]float64, op.Workers.Count()*p.K),
		partial: make([]float64, (len(op.Bounds)-1)*p.K), total: make([]float64, p.K),
	}
}

// Prepare sums x.
func (pass *backgroundPass[T]) Prepare(ctx context.Context) error {
	if err := pass.op.Workers.Do(ctx, len(pass.op.Bounds)-1, pass); err != nil {
		return err
	}
	clear(pass.total)
	for i, v := range pass.partial {
		pass.total[i%pass.K] += v
	}
	return nil
}

// Run sums one chunk of x.
func (pass *backgroundPass[T]) Run(_, chunk int) {
	sum := pass.partial[chunk*pass.K:][:pass.K]
	clear(sum)
	for i := pass.op.Bounds[chunk]; i < pass.op.Bounds[chunk+1]; i++ {
		for c, v := range pass.X.Row(i) {
			sum[c] += float64(v)
		}
	}
}

// MakeRows makes the rows of a chunk.
func (pass *backgroundPass[T]) MakeRows(worker, chunk int) {
	op, k, x := pass.op, pass.K, pass.X
	wx := pass.wx[worker*k:][:k]
	for i := op.Bounds[chunk]; i < op.Bounds[chunk+1]; i++ {
		ind, val := op.Row(i)
		step.MulRow(wx, ind, val, x.Data, x.Stride)
		for c, v := range x.Row(i) {
			wx[c] += float64(op.constant * (pass.total[c] - float64(v)))
		}
		pass.Put(chunk, i, wx)
	}
}
