package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// truncated is what csr and pairs share: the Gaussian kernel truncated at a radius, float32
// weights, products of rows of weights with x in float32, and everything around them.
//
// Equal points share one row of weights: with S the sums of x over the points
// equal to each distinct one, (W x)_i = (W_distinct S)_g + (S_g - x_i) for a
// point i of group g, so any number of equal points costs O(n).
type truncated struct {
	base
	rows    weightRows // between distinct points
	group   []uint32   // rows group[g] to group[g+1]-1 are equal; nil when none are
	faint   []uint32   // rows of faint degree that this rank makes, ascending
	radius  float64    // +Inf where every pair has a weight
	options *Options   // of the budget that building and Matrix have
	halo    halo
	spans   []rows.Span // of the columns of each chunk that is here; nil when nobody knows them
}

// begin makes op the base of an operator.
func (op *truncated) begin(name string, o *Options) {
	op.base = newBase(name, o)
	op.pass32 = func(p *product[float32]) pass[float32] { return newTruncatedPass(op, p) }
	op.watches = true
	op.options = o
}

// weightRows are the rows of weights between distinct points: stored, or made anew
// whenever they are asked for. They come in chunks, one for a worker at a time.
type weightRows interface {
	Rows() int
	Chunks() int
	Chunk(c int) (lo, hi int)
	// reader returns what one worker reads rows and makes products of k columns with.
	reader(k int) rowReader
}

// A rowReader belongs to one worker.
type rowReader interface {
	// mul sets rows lo to hi-1 of dst, the first at its beginning, to those of W x.
	mul(dst []float32, dstStride, lo, hi, k int, x []float32, stride int)
	// row returns the weights of row i, columns ascending, until it is called again.
	row(i int) (ind []uint32, val []float32)
}

// settle takes the rows of a graph and sets degrees, chunks and certificate. sum(dst, lo,
// hi) sets dst to the sums of rows lo to hi-1. rounding is the rounding error of a
// product of a row, relative to the sum of its terms. Where no points are equal and op has
// memory for n degrees, settle uses it; it may hold the sums already, of the rows that are here.
func (op *truncated) settle(ctx context.Context, g *graph, n int, rounding float64, sum func(dst []float64, lo, hi int)) error {
	op.rows, op.order, op.group = g.rows, g.Order, g.Group
	op.rankChunks = nil
	if g.Weights != nil {
		op.rankChunks = g.Weights.RankChunks()
	}
	op.bounds = make([]int, op.rows.Chunks()+1)
	for c := range op.rows.Chunks() {
		lo, hi := op.rows.Chunk(c)
		op.bounds[c], op.bounds[c+1] = op.first(lo), op.first(hi)
	}
	op.cert = Certificate{Kind: DroppedMass, EntryRel: g.entryRel, Row: make([]float32, n)}
	if g.selfTuned {
		op.cert.Kind = AsAsked
	}
	if op.group != nil || len(op.degrees) != n {
		op.degrees = make([]float64, n)
	}
	doubles, err := op.doubles(ctx)
	if err != nil {
		return err
	}
	isolated := make([]int, op.rows.Chunks())
	from, to, here := 0, op.rows.Chunks(), 0 // the chunks that are here, and the first row
	if op.rankChunks != nil {
		from, to = op.ownChunks()
		here, _ = g.Weights.OwnRows()
	}
	if err := op.workers.Do(ctx, to-from, par.Func(func(_, piece int) {
		chunk := from + piece
		op.sumRows(chunk, sum, doubles)
		lo, hi := op.rows.Chunk(chunk)
		for i := lo; i < hi; i++ {
			for row := op.first(i); row < op.first(i+1); row++ {
				eta := math.Inf(1)
				if degree := op.degrees[row]; degree > 0 {
					eta = g.Tails[i-here]*(1+1e-9)/degree + op.cert.EntryRel
				} else {
					isolated[chunk]++
				}
				op.cert.Row[row] = rows.RoundUp(eta)
			}
		}
	})); err != nil {
		return err
	}
	if err := op.gatherSettled(ctx, isolated); err != nil {
		return err
	}
	// Where points are equal their sums, in float64, are rounded too, and so is what
	// is added to the product.
	op.cert.Rounding = rounding
	if op.group != nil {
		op.cert.Rounding += 2*0x1p-24 + float64(n)*0x1p-53
	}
	lo, hi := op.Part()
	op.faint = faintRows(op.degrees, lo, hi)
	for _, count := range isolated {
		op.cert.Isolated += count
	}
	row := op.cert.Row
	op.cert.RowMax = rowMax(row)
	op.rowP99 = sync.OnceValue(func() float64 { return rowP99(row) })
	return nil
}

// gatherSettled hands every rank what each has settled of the rows whose weights it has.
func (op *truncated) gatherSettled(ctx context.Context, isolated []int) error {
	if op.rankChunks == nil {
		return nil
	}
	if err := exchange.Gather(ctx, op.ranks, isolated, op.rankChunks); err != nil {
		return err
	}
	bounds := op.rankBounds()
	if err := exchange.Gather(ctx, op.ranks, op.cert.Row, bounds); err != nil {
		return err
	}
	return exchange.Gather(ctx, op.ranks, op.degrees, bounds)
}

// checkPolicy refuses a graph that the options do not allow.
func (op *truncated) checkPolicy(o *Options) error {
	if err := o.refuseIsolated(op.cert.Isolated, op.N(), fmt.Sprintf("have no neighbour within %.4g", op.radius)); err != nil {
		return buildError(op.name, err)
	}
	worst := 0.0
	switch {
	case o.fixed(): // whatever the tolerance
	case o.Isolated == Fail:
		worst = op.cert.RowMax
	case o.Isolated == Repair:
		worst = op.worstRepairable(o.Tolerance)
	}
	if worst > o.Tolerance {
		return &ToleranceError{Tolerance: o.Tolerance, Eta: worst, Operator: op.name}
	}
	return nil
}

// foundRel bounds the relative error of a weight by simd.Weights whose distance was
// computed by differences.
func foundRel(d int) float64 { return directRel(d) + 1.18*0x1p-24 }

// worstRepairable returns the largest eta_i of the rows whose weights are not
// so small that those below the float32 range matter at the tolerance.
func (op *truncated) worstRepairable(tolerance float64) float64 {
	worst, least := 0.0, underflowDegree(op.N(), tolerance)
	for i, d := range op.degrees {
		if d >= least {
			worst = max(worst, op.cert.Eta(i))
		}
	}
	return worst
}

// doubles returns what equal points add to the degrees of distinct ones: the weights
// of all but one of each group; nil when no points are equal. Mostly few points are
// equal, so it goes through these and adds to their neighbours.
func (op *truncated) doubles(ctx context.Context) ([]float64, error) {
	if op.group == nil {
		return nil, nil
	}
	if op.rankChunks != nil {
		return op.sharedDoubles(ctx)
	}
	out, reader := make([]float64, op.rows.Rows()), op.rows.reader(1)
	for g := range out {
		more := float64(op.first(g+1)-op.first(g)) - 1
		if more == 0 {
			continue
		}
		if err := ctx.Err(); err != nil { // a row may have a million candidates
			return nil, err
		}
		out[g] += more
		ind, val := reader.row(g)
		for e, j := range ind {
			out[j] += more * float64(val[e])
		}
	}
	return out, nil
}

// sumRows sets the degrees of a chunk to W 1, summed in float64.
func (op *truncated) sumRows(chunk int, sum func(dst []float64, lo, hi int), doubles []float64) {
	lo, hi := op.rows.Chunk(chunk)
	first := op.first(lo)
	sum(op.degrees[first:][:hi-lo], lo, hi)
	if doubles == nil {
		return
	}
	// From the last to the first: a group has no fewer rows than one.
	for g := hi - 1; g >= lo; g-- {
		degree := op.degrees[first+g-lo] + doubles[g]
		for row := op.first(g); row < op.first(g+1); row++ {
			op.degrees[row] = degree
		}
	}
}

// first returns the first row of distinct point g.
func (op *truncated) first(g int) int {
	if op.group == nil {
		return g
	}
	return int(op.group[g])
}

// point returns the distinct point of row i of a chunk, where points are equal.
func (op *truncated) point(chunk, i int) int {
	lo, hi := op.rows.Chunk(chunk)
	at, found := slices.BinarySearch(op.group[lo:hi], uint32(i))
	if !found {
		at-- // a row of the point before
	}
	return lo + at
}

// Radius returns the cutoff, +Inf where every pair has a weight. Only weights that Repair
// has added belong to pairs farther apart.
func (op *truncated) Radius() float64 { return op.radius }
