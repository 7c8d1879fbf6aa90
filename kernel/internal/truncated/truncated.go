// Package truncated has the operators whose graph ends at a radius: csr stores its weights, pairs
// recomputes them. It repairs rows that miss the tolerance, bounds what is left out, and exchanges
// rows between ranks.
package truncated

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/par"
)

// Truncated is what csr and pairs share: the Gaussian kernel truncated at a radius, float32
// weights, products of rows of weights with x in float32, and everything around them.
//
// Equal points share one row of weights: with S the sums of x over the points
// equal to each distinct one, (W x)_i = (W_distinct S)_g + (S_g - x_i) for a
// point i of group g, so any number of equal points costs O(n).
type Truncated struct {
	step.Base
	Rows    graph.WeightRows // between distinct points
	Group   []uint32         // rows group[g] to group[g+1]-1 are equal; nil when none are
	Faint   []uint32         // rows of faint degree that this rank makes, ascending
	Cutoff  float64          // +Inf where every pair has a weight
	options *base.Options    // of the memory limit that building and Matrix have
	Halo    halo
	Spans   []rows.Span // of the columns of each chunk that is here; nil when nobody knows them
}

// begin makes op the base of an operator.
func (op *Truncated) begin(name string, o *base.Options) {
	op.Base = step.NewBase(name, o)
	op.Pass32 = func(p *step.Product[float32]) step.Pass[float32] { return newTruncatedPass(op, p) }
	op.Watches = true
	op.options = o
}

// settle takes the rows of a graph and sets degrees, chunks and certificate. sum(dst, lo,
// hi) sets dst to the sums of rows lo to hi-1. rounding is the rounding error of a
// product of a row, relative to the sum of its terms. Where no points are equal and op has
// memory for n degrees, settle uses it; it may hold the sums already, of the rows that are here.
func (op *Truncated) settle(ctx context.Context, g *graph.Graph, n int, rounding float64, sum func(dst []float64, lo, hi int)) error {
	op.Rows, op.GivenRows, op.Group = g.Rows, g.Order, g.Group
	op.RankChunks = nil
	if g.Weights != nil {
		op.RankChunks = g.Weights.RankChunks()
	}
	op.Bounds = make([]int, op.Rows.Chunks()+1)
	for c := range op.Rows.Chunks() {
		lo, hi := op.Rows.Chunk(c)
		op.Bounds[c], op.Bounds[c+1] = op.First(lo), op.First(hi)
	}
	op.Cert = base.Certificate{Kind: base.DroppedMass, EntryRel: g.EntryRel, Row: make([]float32, n)}
	if g.SelfTuned {
		op.Cert.Kind = base.AsAsked
	}
	if op.Group != nil || len(op.RowSums) != n {
		op.RowSums = make([]float64, n)
	}
	doubles, err := op.Doubles(ctx)
	if err != nil {
		return err
	}
	isolated := make([]int, op.Rows.Chunks())
	from, to, here := 0, op.Rows.Chunks(), 0 // the chunks that are here, and the first row
	if op.RankChunks != nil {
		from, to = op.OwnChunks()
		here, _ = g.Weights.OwnRows()
	}
	if err := op.Workers.Do(ctx, to-from, par.Func(func(_, piece int) {
		chunk := from + piece
		op.sumRows(chunk, sum, doubles)
		lo, hi := op.Rows.Chunk(chunk)
		for i := lo; i < hi; i++ {
			for row := op.First(i); row < op.First(i+1); row++ {
				eta := math.Inf(1)
				if degree := op.RowSums[row]; degree > 0 {
					eta = g.Tails[i-here]*(1+1e-9)/degree + op.Cert.EntryRel
				} else {
					isolated[chunk]++
				}
				op.Cert.Row[row] = rows.RoundUp(eta)
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
	op.Cert.Rounding = rounding
	if op.Group != nil {
		op.Cert.Rounding += 2*0x1p-24 + float64(n)*0x1p-53
	}
	lo, hi := op.Part()
	op.Faint = step.FaintRows(op.RowSums, lo, hi)
	for _, count := range isolated {
		op.Cert.Isolated += count
	}
	row := op.Cert.Row
	op.Cert.RowMax = base.RowMax(row)
	op.RowP99 = sync.OnceValue(func() float64 { return base.RowP99(row) })
	return nil
}

// gatherSettled hands every rank what each has settled of the rows whose weights it has.
func (op *Truncated) gatherSettled(ctx context.Context, isolated []int) error {
	if op.RankChunks == nil {
		return nil
	}
	if err := exchange.Gather(ctx, op.Ranks, isolated, op.RankChunks); err != nil {
		return err
	}
	bounds := op.RankBounds()
	if err := exchange.Gather(ctx, op.Ranks, op.Cert.Row, bounds); err != nil {
		return err
	}
	return exchange.Gather(ctx, op.Ranks, op.RowSums, bounds)
}

// checkPolicy refuses a graph that the options do not allow.
func (op *Truncated) checkPolicy(o *base.Options) error {
	if err := o.RefuseIsolated(op.Cert.Isolated, op.N(), fmt.Sprintf("have no neighbour within %.4g", op.Cutoff)); err != nil {
		return base.BuildError(op.Called, err)
	}
	worst := 0.0
	switch {
	case o.Fixed(): // whatever the tolerance
	case o.Isolated == base.Fail:
		worst = op.Cert.RowMax
	case o.Isolated == base.Repair:
		worst = op.WorstRepairable(o.Tolerance)
	}
	if worst > o.Tolerance {
		return &base.ToleranceError{Tolerance: o.Tolerance, Eta: worst, Operator: op.Called}
	}
	return nil
}

// WorstRepairable returns the largest eta_i of the rows whose weights are not
// so small that those below the float32 range matter at the tolerance.
func (op *Truncated) WorstRepairable(tolerance float64) float64 {
	worst, least := 0.0, base.UnderflowDegree(op.N(), tolerance)
	for i, d := range op.RowSums {
		if d >= least {
			worst = max(worst, op.Cert.Eta(i))
		}
	}
	return worst
}

// Doubles returns what equal points add to the degrees of distinct ones: the weights
// of all but one of each group; nil when no points are equal. Mostly few points are
// equal, so it goes through these and adds to their neighbours.
func (op *Truncated) Doubles(ctx context.Context) ([]float64, error) {
	if op.Group == nil {
		return nil, nil
	}
	if op.RankChunks != nil {
		return op.sharedDoubles(ctx)
	}
	out, reader := make([]float64, op.Rows.Rows()), op.Rows.Reader(1)
	for g := range out {
		more := float64(op.First(g+1)-op.First(g)) - 1
		if more == 0 {
			continue
		}
		if err := ctx.Err(); err != nil { // a row may have a million candidates
			return nil, err
		}
		out[g] += more
		ind, val := reader.Weights(g)
		for e, j := range ind {
			out[j] += more * float64(val[e])
		}
	}
	return out, nil
}

// sumRows sets the degrees of a chunk to W 1, summed in float64.
func (op *Truncated) sumRows(chunk int, sum func(dst []float64, lo, hi int), doubles []float64) {
	lo, hi := op.Rows.Chunk(chunk)
	first := op.First(lo)
	sum(op.RowSums[first:][:hi-lo], lo, hi)
	if doubles == nil {
		return
	}
	// From the last to the first: a group has no fewer rows than one.
	for g := hi - 1; g >= lo; g-- {
		degree := op.RowSums[first+g-lo] + doubles[g]
		for row := op.First(g); row < op.First(g+1); row++ {
			op.RowSums[row] = degree
		}
	}
}

// First returns the first row of distinct point g.
func (op *Truncated) First(g int) int {
	if op.Group == nil {
		return g
	}
	return int(op.Group[g])
}

// point returns the distinct point of row i of a chunk, where points are equal.
func (op *Truncated) point(chunk, i int) int {
	lo, hi := op.Rows.Chunk(chunk)
	at, found := slices.BinarySearch(op.Group[lo:hi], uint32(i))
	if !found {
		at-- // a row of the point before
	}
	return lo + at
}

// Radius returns the cutoff, +Inf where every pair has a weight. Only weights that Repair
// has added belong to pairs farther apart.
func (op *Truncated) Radius() float64 { return op.Cutoff }
