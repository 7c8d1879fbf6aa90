package truncated

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// Pairs is the Gaussian kernel truncated at a radius, weights recomputed for every
// product: the same graph as csr, in a fraction of its memory, in 1 to 8 dimensions.
//
// The points are those of the cell list, in clusters of at most 32. What is kept is,
// for each cluster, the spans of points that may be within the radius of its own. A
// product takes the distances between points of a cluster and those of its spans, drops
// the ones beyond the radius, and multiplies the weights of the others with x. Where the
// graph is truncated, neighbours and weights are those of csr, bit by bit. Where csr has
// searched by cells too, so are the order of rows and their bounds, the rounding of degrees
// apart. With f the share of the distances
// that are within the radius (about one half in the plane where there are many
// neighbours, one quarter in space) a product takes nnz/f distances and nnz weights more
// than that of csr, and, where clusters are full, at most 8/(32^2 f) bytes a weight in
// place of 8.
type Pairs struct {
	Truncated
	List       *pairList
	neighbours float64
}

// NewPairs builds the operator pairs: the kernel truncated at a radius, weights recomputed for
// every product.
func NewPairs(ctx context.Context, p *rows.Points, b base.Bandwidth, radius float64, o *base.Options) (*Pairs, error) {
	if p.D > base.MaxDirect {
		return nil, fmt.Errorf("kernel: build pairs: %w: %d dimensions, at most %d", base.ErrOperator, p.D, base.MaxDirect)
	}
	if o.Neighbours > 0 {
		return nil, fmt.Errorf("kernel: build pairs: %w: %s", base.ErrOperator, pairsHaveARadius)
	}
	op := &Pairs{}
	op.begin("pairs", o)
	g, counts, err := op.search(ctx, p, b, radius, o)
	if err != nil {
		return nil, base.BuildError("pairs", err)
	}
	if o.Isolated == base.Repair {
		if g, err = op.repair(ctx, g, b, p, o); err != nil {
			return nil, base.BuildError("pairs: repair", err)
		}
	}
	if err := op.checkPolicy(o); err != nil {
		return nil, err
	}
	if op.neighbours, err = op.countNeighbours(ctx, counts); err != nil {
		return nil, base.BuildError("pairs", err)
	}
	if err := op.PlanHalo(ctx); err != nil {
		return nil, base.BuildError("pairs", err)
	}
	op.Costs = pairsCost(p.N, p.D, op.neighbours*float64(p.N), op.List.Tested(), o)
	op.Costs.PeakBytes, op.Costs.ResidentBytes = g.Peak, op.List.resident()+int64(p.N)*(8+4+4+4)
	return op, nil
}

// search lists the pairs within the radius, and takes over their graph. It returns that
// and how many neighbours each distinct point has.
func (op *Pairs) search(ctx context.Context, p *rows.Points, b base.Bandwidth, radius float64, o *base.Options) (g *graph.Graph, counts []uint32, err error) {
	radius = min(radius, b.MaxRadius())
	complete := radius >= p.Farthest()
	if op.Cutoff = radius; complete {
		radius, op.Cutoff = p.Farthest(), math.Inf(1)
	}
	held := pairsHeld(p.N, p.D, o)
	if err := o.Take("build pairs", held); err != nil {
		return nil, nil, err
	}
	cl, err := cells.NewList(ctx, p, radius, o.Workers, o.Ranks)
	if err != nil {
		return nil, nil, err
	}
	taken := int64(0)
	if op.List, taken, err = newPairList(ctx, cl, b, held, o); err != nil {
		return nil, nil, err
	}
	sums, counts, err := op.List.weigh(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	g = &graph.Graph{
		Result: rows.Result{Sums: sums, Order: cl.Order, Group: cl.Group, Peak: held + taken, Distance: cl.Dist2},
		Rows:   op.List, Radius: op.Cutoff, EntryRel: distance.FoundRel(p.D),
	}
	for _, count := range counts {
		g.Entries += uint64(count)
	}
	if complete {
		g.Tails = make([]float64, cl.N)
	} else if g.Tails, err = cl.Tails(ctx, graph.RequestOf(o, p, b, radius), counts, op.List.near()); err != nil {
		return nil, nil, err
	}
	cl.ForgetCells()
	return g, counts, op.adopt(ctx, g, p.N)
}

// pairsHeld is what is held in addition to the list of pairs at most, with the readers of products:
// by a search, or by the steps that follow it, which have the points and the clusters.
func pairsHeld(n, d int, o *base.Options) int64 {
	steps := mem.Saturate(float64(graph.StepBytes(n, o)) + float64(n)*(4*float64(d)+4))
	return mem.Saturate(float64(max(graph.SearchBytes(n, d, o), steps)) + float64(o.Workers.Count())*float64(PairReaderBytes(o.Columns)))
}

// repair adds the weights that rows of g need, and returns the graph that has them.
func (op *Pairs) repair(ctx context.Context, g *graph.Graph, b base.Bandwidth, p *rows.Points, o *base.Options) (*graph.Graph, error) {
	repaired, err := repairGraph(ctx, g, p, b, &op.Truncated, o)
	if err != nil || repaired == g {
		return g, err
	}
	op.List.added, repaired.Sums = repaired.Weights, g.Sums
	return repaired, op.adopt(ctx, repaired, p.N)
}

// adopt takes over a graph.
func (op *Pairs) adopt(ctx context.Context, g *graph.Graph, n int) error {
	// Products are those of csr; where candidates come in batches these are added in
	// float64 and rounded once more.
	return op.settle(ctx, g, n, 12.2*0x1p-24, func(dst []float64, lo, hi int) {
		copy(dst, g.Sums[lo:hi])
		if op.List.added != nil {
			more := make([]float64, hi-lo)
			op.List.added.SumRows(op.Kernels, more, lo, hi)
			for i, v := range more {
				dst[i] += v
			}
		}
	})
}

// Close lets go of the points.
func (op *Pairs) Close() error { return step.Release(op) }

// MeanNeighbours returns the mean number of neighbours of a point, equal points
// included.
func (op *Pairs) MeanNeighbours() float64 { return op.neighbours }

// Search returns zeros: cells have no filters to tell of.
func (op *Pairs) Search() rows.Stats { return rows.Stats{} }

func (op *Pairs) countNeighbours(ctx context.Context, counts []uint32) (float64, error) {
	sum := 0.0
	doubles, err := op.List.Cl.Doubles(ctx, op.List.near())
	if err != nil {
		return 0, err
	}
	for i, count := range counts {
		near := float64(count)
		if doubles != nil {
			near += float64(doubles[i])
		}
		if op.List.added != nil {
			near += float64(op.List.added.RowLen(i))
		}
		sum += near * float64(op.First(i+1)-op.First(i))
	}
	return sum / float64(op.N()), nil
}
