package kernel

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
)

// dense is the Gaussian kernel of every pair, in float64, weights made anew for every
// product. It stores nothing but its degrees and is the reference that the other operators
// are tested against. A product costs n^2/2 distances and exponentials.
type dense struct {
	wideBase
	q         *distancer
	bandwidth Bandwidth
	unit      *unitWeights // nil when the points are not unit rows
	blocks    tournament
	progress  *rows.Progress
}

// NewDense builds the operator dense of points in either precision: the Gaussian kernel of
// every pair, in float64. Building it takes one pass over all pairs, for the degrees. The
// operator reads the points as long as it lives; they must not change.
func NewDense[M points.Matrix](ctx context.Context, p M, b Bandwidth, opt *Options) (Operator64, error) {
	pts, o, err := openEither(p, b, opt)
	if err != nil {
		return nil, err
	}
	return orNil[Operator64](newDense(ctx, pts, nil, b, o))
}

// NewUnitDense builds the operator dense of unit rows. Squared distances are clamped
// to [0, 4], so that every weight is in [exp(-4 Gamma), 1] whatever rounding
// does. The weight between a null record and any other row is exp(-Gamma) by
// definition. A Gamma above 175 is refused with ErrBandwidth; up to 175 no row
// is isolated unless it is the only one.
func NewUnitDense(ctx context.Context, rows *UnitRows, b Bandwidth, opt *Options) (Operator64, error) {
	unit, o, err := rows.open(b, opt)
	if err != nil {
		return nil, err
	}
	return orNil[Operator64](newDense(ctx, rows.points(), unit, b, o))
}

func newDense(ctx context.Context, p *rows.Points, unit *unitWeights, b Bandwidth, o *Options) (*dense, error) {
	if err := o.refuseFixed("dense"); err != nil {
		return nil, buildError("dense", err)
	}
	cost := denseCost(p.N, p.D, o)
	if err := o.take("build dense", cost.PeakBytes); err != nil {
		return nil, err
	}
	op := &dense{bandwidth: b, unit: unit, blocks: tournament{par.Blocks(p.N, blockRows)}}
	op.base, op.bounds, op.cost = newBase("dense", o), chunkBounds(p.N, chunkRows), cost
	op.pass32 = func(p *product[float32]) pass[float32] { return newDensePass(op, p) }
	op.pass64 = func(p *product[float64]) pass[float64] { return newDensePass(op, p) }
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
	pass := newDensePass(op, &product[float64]{op: &op.base, k: 1, x: ones(p.N)})
	if err := pass.prepare(ctx); err != nil {
		return nil, productError("dense", err)
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
	peak := mem.Saturate(float64(resident) + 8*float64(n)*(float64(o.Columns)+1) + float64(o.Workers.Count())*float64(distanceScratchBytes(d)))
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
	return orNil[Operator](newDense(ctx, p, nil, b, o))
}

// Close lets go of the points.
func (op *dense) Close() error { return release(op) }

// certify sets the certificate: exact up to rounding, isolated rows aside.
func (op *dense) certify() {
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

func (op *dense) entryRel() float64 {
	if op.unit != nil {
		return op.unit.entryRel(op.q.p.D)
	}
	return weightRel(op.bandwidth, op.q.p.D, op.q.most)
}

// weight returns the weight of rows i and j whose filled squared distance is d2.
func (op *dense) weight(i, j int, d2 float64) float64 {
	if op.unit != nil {
		return op.unit.weight(i, j, d2)
	}
	return op.q.weight(op.bandwidth, i, j, d2)
}

// densePass is the pass of dense: games of blocks against blocks make W x, chunks of its
// rows follow.
type densePass[T rows.Float] struct {
	*product[T]
	op      *dense
	wx      []float64          // n x k
	scratch []*distanceScratch // one per worker
	round   int
}

func newDensePass[T rows.Float](op *dense, p *product[T]) *densePass[T] {
	pass := &densePass[T]{product: p, op: op, wx: make([]float64, op.q.n*p.k), scratch: make([]*distanceScratch, op.workers.Count())}
	for w := range pass.scratch {
		pass.scratch[w] = newDistanceScratch(op.q.p.D)
	}
	return pass
}

// prepare sets wx = W x, round after round of the tournament.
func (pass *densePass[T]) prepare(ctx context.Context) error {
	clear(pass.wx)
	return pass.op.blocks.play(ctx, pass.op.workers, pass, &pass.round, pass.op.progress)
}

// rows puts the rows of wx. A row of degree 0 has weights that are too small to count, and
// they are no part of W.
func (pass *densePass[T]) rows(_, chunk int) {
	op, k := pass.op, pass.k
	for i := op.bounds[chunk]; i < op.bounds[chunk+1]; i++ {
		wx := pass.wx[i*k:][:k]
		if pass.stats == nil && op.degrees[i] == 0 {
			clear(wx)
		}
		pass.put(chunk, i, wx)
	}
}

// Run plays one game.
func (pass *densePass[T]) Run(worker, game int) {
	op, k, x, wx := pass.op, pass.k, pass.x, pass.wx
	a, b, ok := op.blocks.game(pass.round, game)
	if !ok {
		return
	}
	alo, ahi := par.Block(a, op.q.n, blockRows)
	blo, bhi := par.Block(b, op.q.n, blockRows)
	t := pass.scratch[worker]
	op.q.fill(t, alo, ahi, blo, bhi)
	for i := alo; i < ahi; i++ {
		first := blo
		if a == b {
			first = i + 1 // every pair once
		}
		d2 := t.d2[(i-alo)*t.stride:]
		xi, yi := x.Row(i), wx[i*k:][:k]
		for j := first; j < bhi; j++ {
			w := op.weight(i, j, d2[j-blo])
			xj, yj := x.Row(j), wx[j*k:][:k]
			for c := range yi {
				yi[c] += w * float64(xj[c])
				yj[c] += w * float64(xi[c])
			}
		}
	}
}
