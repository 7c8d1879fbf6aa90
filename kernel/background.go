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
	"github.com/seed-64e14a55/privatemail/sparse"
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
	ptr      []uint64
	ind      []uint32 // in the order of the rounds of the search
	val      []float64
	constant float64
	bounds   []int // chunks of rows
	degrees  []float64
	cert     Certificate
	cost     Cost
	workers  *par.Workers
}

// NewBackground builds the operator. The radius is in (0, 2] and the weight in
// [exp(-4 Gamma), exp(-Gamma radius^2)], ends compared to a relative 1e-12, or
// the error is ErrBackground; near weights that the tolerance would leave below
// the constant are raised to it. All pairs are measured twice, once to count
// and once to fill, so the memory is known before it is taken; how much it is,
// and so the numbers of a *MemoryError, depend on the data. The rows are not
// needed afterwards.
func NewBackground(ctx context.Context, rows *UnitRows, b Bandwidth, radius, weight float64, opt *Options) (*Background, error) {
	unit, o, err := rows.open(b, opt)
	if err != nil {
		return nil, err
	}
	if err := o.refuseCut("background"); err != nil {
		return nil, buildError("background", err)
	}
	if !(radius > 0 && radius <= 2) {
		return nil, fmt.Errorf("kernel: build background: %w: radius %g, want one in (0, 2]", ErrBackground, radius)
	}
	edge := b.Weight(radius * radius)
	if !(weight >= unit.low*(1-1e-12) && weight <= edge*(1+1e-12)) {
		return nil, fmt.Errorf("kernel: build background: %w: weight %g, want one in [%g, %g]", ErrBackground, weight, unit.low, edge)
	}
	n, d := rows.N(), rows.Dim()
	held := backgroundBytes(n, d, o)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "build background", Need: held, Budget: o.BudgetBytes}
	}
	op := &Background{constant: weight, bounds: chunkBounds(n, chunkRows), workers: o.Workers}
	search, err := newBackgroundSearch(ctx, rows, unit, radius, weight, o)
	if err != nil {
		return nil, buildError("background", err)
	}
	if err := search.run(ctx, o, "count neighbours"); err != nil {
		return nil, buildError("background", err)
	}
	if op.ptr, err = search.allocate(held, o); err != nil {
		return nil, err
	}
	if err := search.run(ctx, o, "fill weights"); err != nil {
		return nil, buildError("background", err)
	}
	op.ind, op.val = search.ind, search.val
	op.cost = backgroundCost(n, d, float64(len(op.val)), o)
	op.certify(max(edge-weight, weight-unit.low, 0), unit.entryRel(d))
	if err := o.refuseIsolated(op.cert.Isolated, n, "have no neighbour"); err != nil {
		return nil, buildError("background", err)
	}
	return op, nil
}

// certify sets the degrees, and the certificate relative to the full kernel: a
// weight beyond the radius is off by at most gap.
func (op *Background) certify(gap, entryRel float64) {
	n, longest := len(op.ptr)-1, 0
	op.degrees = make([]float64, n)
	eta := make([]float64, n)
	op.cert = Certificate{Kind: Replaced, EntryRel: entryRel + 0x1p-53} // a stored value is rounded once
	all := float64(op.constant * float64(n-1))                          // not fused into the sums below
	for i := range op.degrees {
		_, val := op.row(i)
		sum := 0.0
		for _, v := range val {
			sum += v
		}
		op.degrees[i] = all + sum // as a product adds them up
		longest = max(longest, len(val))
		beyond := float64(n - 1 - len(val))
		eta[i] = op.cert.EntryRel
		if beyond > 0 {
			eta[i] += beyond * gap * (1 + 1e-9) / op.degrees[i]
		}
	}
	op.cert.Rounding = float64(n+longest+8) * 0x1p-53
	if n == 1 {
		op.cert.Isolated, eta[0] = 1, math.Inf(1)
	}
	op.cert.setRows(eta)
}

func (op *Background) row(i int) (ind []uint32, val []float64) {
	lo, hi := op.ptr[i], op.ptr[i+1]
	return op.ind[lo:hi], op.val[lo:hi]
}

// backgroundBytes is what the operator takes beside the stored entries: counts
// or pointers and their copy, norms, degrees, and the bounds of all rows,
// which are sorted; a distanceRoom for each worker.
func backgroundBytes(n, d int, o *Options) int64 {
	const perRow = 8 + 8 + 8 + 8 + 8 + 4 + 4
	return mem.Saturate(perRow*float64(n) + float64(o.Workers.Count())*float64(distanceRoomBytes(d)))
}

// backgroundEntry is the memory of a stored entry.
const backgroundEntry = 4 + 8

func backgroundCost(n, d int, nnz float64, o *Options) Cost {
	rows, columns := float64(n), float64(o.Columns)
	pairs := rows * rows / 2
	return Cost{
		BuildSeconds:  2*pairs*float64(d+4)*distanceSeconds + nnz*(denseExpSeconds/2+2*float64(d)*distanceSeconds),
		StepSeconds:   nnz*(entrySeconds+columns*axpySeconds) + rows*columns*(finishSeconds+axpySeconds),
		ResidentBytes: mem.Saturate(backgroundEntry*nnz + rows*(8+8+4)),
		PeakBytes:     mem.Saturate(backgroundEntry*nnz + float64(backgroundBytes(n, d, o))),
		StreamedBytes: mem.Saturate(backgroundEntry*nnz + rows*(24*columns+16)),
		Flops:         2 * (nnz + 3*rows) * columns,
		NNZ:           mem.Saturate(nnz),
	}
}

// Name returns "background".
func (op *Background) Name() string { return "background" }

// N returns the number of rows.
func (op *Background) N() int { return len(op.degrees) }

// Order returns nil: rows are in the order given.
func (op *Background) Order() []uint32 { return nil }

// Degrees returns W 1.
func (op *Background) Degrees() []float64 { return op.degrees }

// Certificate bounds the distance to the full kernel: each weight beyond the
// radius is off by at most the larger of exp(-Gamma radius^2) - weight and
// weight - exp(-4 Gamma). It depends on the data, like every certificate: it
// says what the background costs, not what one record can change. Taken as a
// kernel of its own, the background is exact but for EntryRel and Rounding.
func (op *Background) Certificate() Certificate { return op.cert }

// Cost returns what the operator takes.
func (op *Background) Cost() Cost { return op.cost }

// Close releases the weights.
func (op *Background) Close() error {
	*op = Background{}
	return nil
}

// Apply sets dst = W x.
func (op *Background) Apply(ctx context.Context, dst, x blas32.General) error {
	return backgroundApply(ctx, op, rows.View32(dst), rows.View32(x))
}

// Apply64 sets dst = W x in float64 throughout.
func (op *Background) Apply64(ctx context.Context, dst, x blas64.General) error {
	return backgroundApply(ctx, op, rows.View64(dst), rows.View64(x))
}

// Step sets dst to the iterate after x.
func (op *Background) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	return backgroundStep(ctx, op, rows.View32(dst), rows.View32(x), s, st)
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (op *Background) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	return backgroundStep(ctx, op, rows.View64(dst), rows.View64(x), s, st)
}

func backgroundApply[T rows.Float](ctx context.Context, op *Background, dst, x rows.View[T]) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := checkFinite("x", x); err != nil {
		return err
	}
	return newBackgroundPass[T](op, x.Cols).run(ctx, dst, x, nil)
}

func backgroundStep[T rows.Float](ctx context.Context, op *Background, dst, x rows.View[T], s *Step, st *Stats) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := st.begin(s, op.degrees, op.bounds, x.Cols); err != nil {
		return err
	}
	pass, ok := st.operator.(*backgroundPass[T])
	if !ok || pass.op != op || pass.k != x.Cols {
		pass = newBackgroundPass[T](op, x.Cols)
		st.operator = pass
	}
	if err := pass.run(ctx, dst, x, st); err != nil {
		return err
	}
	st.end()
	return nil
}

// backgroundPass is the state of one product; it is reused from step to step.
type backgroundPass[T rows.Float] struct {
	op      *Background
	k       int
	dst, x  rows.View[T]
	stats   *Stats    // nil: dst = W x
	rows    []float64 // a row of k for each worker
	partial []float64 // sums of x by chunk, chunks x k
	total   []float64 // their sum
	adding  bool      // first half: fill partial
}

func newBackgroundPass[T rows.Float](op *Background, k int) *backgroundPass[T] {
	return &backgroundPass[T]{
		op: op, k: k, rows: make([]float64, op.workers.Count()*k),
		partial: make([]float64, (len(op.bounds)-1)*k), total: make([]float64, k),
	}
}

func (pass *backgroundPass[T]) run(ctx context.Context, dst, x rows.View[T], st *Stats) error {
	pass.dst, pass.x, pass.stats = dst, x, st
	chunks := len(pass.op.bounds) - 1
	pass.adding = true
	err := pass.op.workers.Do(ctx, chunks, pass)
	pass.adding = false
	if err == nil {
		clear(pass.total)
		for i, v := range pass.partial {
			pass.total[i%pass.k] += v
		}
		err = pass.op.workers.Do(ctx, chunks, pass)
	}
	pass.dst, pass.x, pass.stats = rows.View[T]{}, rows.View[T]{}, nil
	if err != nil {
		return fmt.Errorf("kernel: background: %w", err)
	}
	return nil
}

// Run does one chunk of rows.
func (pass *backgroundPass[T]) Run(worker, chunk int) {
	op, k := pass.op, pass.k
	lo, hi := op.bounds[chunk], op.bounds[chunk+1]
	if pass.adding {
		sum := pass.partial[chunk*k:][:k]
		clear(sum)
		for i := lo; i < hi; i++ {
			for c, v := range pass.x.Row(i) {
				sum[c] += float64(v)
			}
		}
		return
	}
	wx := pass.rows[worker*k:][:k]
	for i := lo; i < hi; i++ {
		ind, val := op.row(i)
		sparse.MulRow(wx, ind, val, pass.x.Data, pass.x.Stride)
		for c, v := range pass.x.Row(i) {
			wx[c] += float64(op.constant * (pass.total[c] - float64(v)))
		}
		if pass.stats != nil {
			finishRow(&pass.stats.finish, &pass.stats.partials.chunk[chunk], i, op.degrees[i], wx, pass.x.Row(i), pass.dst.Row(i))
			continue
		}
		out := pass.dst.Row(i)
		for c, v := range wx {
			out[c] = T(v)
		}
	}
}
