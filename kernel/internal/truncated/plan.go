package truncated

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// CSRCandidate plans csr.
func CSRCandidate(_ context.Context, p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) step.Candidate {
	c := step.Candidate{Feasible: true, Radius: CutoffFor(p, b, pr, o)}
	mean, upper := pr.Neighbours(c.Radius)
	if o.Neighbours > 0 { // of each point, and of some others
		upper = 2 * min(float64(o.Neighbours), float64(p.N-1))
	}
	c.MeanNeighbours = mean
	c.Cost = CSRCost(p.N, p.D, math.Ceil(upper*float64(p.N)), o)
	radius := c.Radius
	c.Build = func(ctx context.Context, o *base.Options) (step.Operator, error) {
		return WithinTolerance(b, radius, o, func(radius float64) (step.Operator, error) {
			return step.OrNil[step.Operator](NewCSR(ctx, p, b, radius, o))
		})
	}
	if o.SelfTuned {
		c.Eta = distance.FoundRel(p.D)
	} else {
		c.Eta = pr.Dropped(b, c.Radius, o.Tolerance, farBoundOf(p)) + truncatedRel(p, b, pr)
	}
	if o.Layout == sparse.Compact16 {
		c.Eta += 0x1p-11
	}
	if math.IsInf(c.Radius, 1) {
		c.Reason = "every pair stored: most are within the radius the tolerance asks for"
		return c
	}
	c.Reason = fmt.Sprintf("about %.4g stored neighbours a row within %.4g", mean, c.Radius)
	if o.Neighbours > 0 {
		c.Reason = fmt.Sprintf("the %d nearest of each row, and those it is one of the nearest of", min(o.Neighbours, p.N-1))
	}
	return c
}

const pairsHaveARadius = "the graph asked for is that of nearest neighbours; pairs are cut at a radius"

// PairsCandidate plans the graph of csr without its weights.
func PairsCandidate(ctx context.Context, p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) step.Candidate {
	c := CSRCandidate(ctx, p, b, pr, o)
	if p.D > base.MaxDirect {
		return step.Candidate{Radius: c.Radius, MeanNeighbours: c.MeanNeighbours, Reason: fmt.Sprintf("for up to %d dimensions", base.MaxDirect)}
	}
	if o.Neighbours > 0 {
		c.Feasible, c.Reason = false, pairsHaveARadius
		return c
	}
	radius := c.Radius
	c.Build = func(ctx context.Context, o *base.Options) (step.Operator, error) {
		return WithinTolerance(b, radius, o, func(radius float64) (step.Operator, error) {
			return step.OrNil[step.Operator](NewPairs(ctx, p, b, radius, o))
		})
	}
	nnz := c.MeanNeighbours * float64(p.N)
	c.Cost = pairsCost(p.N, p.D, nnz, TestedPairs(p.N, p.D, nnz), o)
	c.Reason = fmt.Sprintf("about %.4g neighbours a row within %.4g, weights recomputed at every step", c.MeanNeighbours, c.Radius)
	if math.IsInf(c.Radius, 1) {
		c.Reason = "every pair, weights recomputed at every step"
	}
	return c
}

// CutoffFor returns the radius of a truncated kernel: the one asked for, or the one at
// which the tails and the error of float32 weights together meet the tolerance.
func CutoffFor(p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) float64 {
	switch {
	case o.CutoffRadius > 0:
		return o.CutoffRadius
	case o.Neighbours > 0:
		return pr.RadiusFor(min(float64(o.Neighbours), float64(p.N-1)))
	}
	return pr.Cutoff(b, max(o.Tolerance-truncatedRel(p, b, pr), o.Tolerance/2), farBoundOf(p))
}

// truncatedRel is the error of a float32 weight.
func truncatedRel(p *rows.Points, b base.Bandwidth, pr *profile.Profile) float64 {
	if p.D <= base.MaxDirect {
		return distance.FoundRel(p.D)
	}
	return distance.WeightRel(b, p.D, pr.Most) + 0x1p-24 // the stored format
}

// farBoundOf returns what the search among points knows of those dropped. It is for
// one goroutine.
func farBoundOf(p *rows.Points) profile.FarBound {
	if p.D <= base.MaxDirect {
		return cells.Far(p)
	}
	return func(r, _ float64) float64 { return r } // what codes reject is beyond the radius, and no more is known
}

// CSRCost estimates the cost for a number of stored weights.
func CSRCost(n, d int, nnz float64, o *base.Options) base.Cost {
	c := base.Cost{StepSeconds: nnz*(csrEntrySeconds+float64(o.Columns)*csrAxpySeconds) + float64(n)*float64(o.Columns)*csrFinishSeconds, Flops: 2 * nnz * float64(o.Columns)}
	switch pairs := float64(n) * float64(n) / 2; {
	case nnz >= float64(n)*float64(n-1): // every pair: nothing to search or count
		c.BuildSeconds = pairs*(base.DistanceSecondsIn(d)+base.DenseWeightSeconds) + nnz*(base.EntrySeconds+storeSeconds)
	case d <= base.MaxDirect && o.Neighbours > 0:
		c.BuildSeconds = float64(n)*treeRowSeconds + nnz*treeSeconds*float64(int(1)<<d)
	default:
		byCells := float64(n)*(sortSeconds+pairRowSeconds) + TestedPairs(n, d, nnz)*float64(d)*pairTestSeconds + nnz*weightSeconds
		byCodes := float64(n)*float64(d)*encodeSeconds + pairs*codeSeconds + nnz/2*(foundSeconds+float64(d)*foundSecondsBy)
		c.BuildSeconds = graph.Chosen(d, byCells, byCodes)
	}
	c.StreamedBytes = mem.Saturate(8*nnz + float64(n)*(8*float64(o.Columns)+12))
	c.ResidentBytes = mem.Saturate(8*nnz/holders(o, n, nnz) + float64(n)*(8+4+8+4+4))
	c.PeakBytes = csrPeak(n, d, nnz, o)
	c.NNZ = mem.Saturate(nnz)
	return c
}

// holders returns how many ranks hold the weights of a graph together: one where each has all.
func holders(o *base.Options, n int, nnz float64) float64 {
	if o.Neighbours > 0 || o.Isolated == base.Repair || nnz >= float64(n)*float64(n-1) {
		return 1
	}
	return float64(o.Ranks.Size())
}

// csrPeak estimates the memory that it takes to find a number of weights.
func csrPeak(n, d int, nnz float64, o *base.Options) int64 {
	none, one := graph.RequestOf(o, nil, base.Bandwidth{}, 0).StoredBytes(n)
	entry := float64(one)
	if o.Neighbours > 0 { // those of each point, until the matrix is made
		return mem.Saturate(entry*nnz + float64(graph.NearestHeld(n, d, min(o.Neighbours, n-1), o)) + float64(none))
	}
	held := float64(graph.SearchBytes(n, d, o)) + float64(none)
	found := rows.EntryBytes * nnz // half of the graph, until the other is made
	if holders := holders(o, n, nnz); holders > 1 {
		nnz /= holders
		found = 3 * rows.EntryBytes * nnz // with what goes to other ranks, and comes from them
	}
	byCells := held + rows.SlabBytes(nnz, entry, o.Workers.Count())
	if d > base.MaxDirect && nnz >= float64(n)*float64(n-1) { // every pair: nothing to search
		return mem.Saturate(held + entry*nnz)
	}
	byCodes := max(held, float64(codes.Bytes(n, d, o.Workers.Count()))+float64(none)) + entry*nnz + found
	switch {
	case d <= graph.CellDimensions:
		return mem.Saturate(byCells)
	case d > graph.ChoiceDimensions:
		return mem.Saturate(byCodes)
	}
	return mem.Saturate(max(byCells, byCodes)) // either may find them
}

// TestedPairs estimates how many distances a cell list takes to find nnz weights,
// as the benchmarks show it: the more points there are around a cluster the better its
// box fits, and the fewer in many dimensions.
func TestedPairs(n, d int, nnz float64) float64 {
	neighbours := nnz / float64(n)
	best := [...]float64{1: 0.8, 2: 0.6, 3: 0.27}[min(d, 3)] * math.Pow(0.35, float64(max(d-3, 0)))
	within := best * math.Sqrt(neighbours/(neighbours+50*float64(d-1)+1)) // the share of them within the radius
	return min(nnz/max(within, 1e-9), float64(n)*float64(n))
}

// pairsCost estimates the cost for a number of weights and of distances taken.
func pairsCost(n, d int, nnz, tested float64, o *base.Options) base.Cost {
	rows, columns := float64(n), float64(o.Columns)
	step := rows*pairRowSeconds + tested*float64(d)*pairTestSeconds + nnz*(pairWeightSeconds+columns*csrAxpySeconds) + rows*columns*csrFinishSeconds
	list := PairListBytes(n, d, nnz, tested)
	return base.Cost{
		BuildSeconds: rows*sortSeconds + step, StepSeconds: step,
		ResidentBytes: mem.Saturate(rows*(4*float64(d)+8+4+4+4) + list),
		PeakBytes:     mem.Saturate(float64(pairsHeld(n, d, o)) + list),
		StreamedBytes: mem.Saturate(rows*(4*float64(d)+8*columns+12) + list),
		Flops:         3*float64(d)*tested + nnz*(10+2*columns),
	}
}

// PairListBytes estimates the bytes of a list of pairs where points are spread evenly, for a
// number of weights and of distances taken. The clusters are those of cells.NewList.
func PairListBytes(n, d int, nnz, tested float64) float64 {
	const axes, number = 3, 4
	rows := float64(n)
	if d > axes { // a span for each cluster that is tested, at most
		return number * (2*tested/cells.ClusterPoints/cells.ClusterPoints + rows)
	}
	reach := [axes + 1]float64{1: 2, 2: 2, 3: 1}[d]
	ball := [axes + 1]float64{1: 2, 2: math.Pi, 3: 4 * math.Pi / 3}[d] // its volume, of radius 1
	cell := func() float64 { return max(nnz/rows, 1e-9) / ball / math.Pow(reach, float64(d)) }
	if cell() < 0.25 { // cells are larger where points are few
		reach = 1
	}
	// A cluster begins with a cell that holds a point, and goes on for reach cells, as long
	// as they have few points. Its spans are one for each row of cells around it, and some
	// more where cells are split into clusters.
	const joined, full = 9, 26 // points of a cluster of several cells, and of one cell that is split
	first := cell() / -math.Expm1(-cell())
	points := min(first+reach*cell(), max(first, joined), full)
	spans := math.Pow(2*reach+1, float64(d-1))
	if first > cells.ClusterPoints/2 {
		spans *= 1.5
	}
	return number * (2*spans + 1) * rows / points
}

// WithinTolerance builds a truncated operator. If too many rows miss the tolerance, because
// the sample was not like them, it builds it once more with a larger radius.
func WithinTolerance(b base.Bandwidth, radius float64, o *base.Options, build func(radius float64) (step.Operator, error)) (step.Operator, error) {
	op, err := build(radius)
	if err != nil || o.Fixed() || math.IsInf(radius, 1) {
		return op, err
	}
	missed, eta := step.Shortfall(op, o.Tolerance)
	if !missed {
		return op, nil
	}
	// A weight at the radius falls by the factor that is missing.
	raised := math.Sqrt(radius*radius + math.Log(eta/o.Tolerance)/b.Gamma())
	if raised = min(raised, b.MaxRadius()); !(raised > radius) {
		return op, nil
	}
	op.Close()
	wider, err := build(raised)
	if errors.Is(err, base.ErrMemory) && !base.Denied(err) && o.Operator != "" {
		return build(radius) // what was asked for, and its certificate reports what it misses
	}
	return wider, err
}

// LeastCSR is what csr takes at the least with n points in d dimensions.
func LeastCSR(n, d int, o *base.Options) int64 {
	if o.Neighbours > 0 && n > 1 {
		return graph.NearestNeed(n, d, o.Neighbours, o)
	}
	return graph.SearchBytes(n, d, o)
}

// LeastPairs is what pairs takes at the least with n points in d dimensions.
func LeastPairs(n, d int, o *base.Options) int64 {
	if d > base.MaxDirect || o.Neighbours > 0 {
		return math.MaxInt64
	}
	return pairsHeld(n, d, o)
}
