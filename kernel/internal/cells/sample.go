package cells

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// An Estimate is a sum over all clusters, by a sample of them: the mean of the sample, and
// what is four times its standard error below and above.
type Estimate struct{ Least, Mean, Most float64 }

// Sharp tells whether the sample tells the sum to a quarter. Otherwise few clusters have
// most of it, and the sample may have met more or fewer of these than there are.
func (e Estimate) Sharp() bool { return e.Most <= 1.25*e.Mean }

// of returns the estimate of the part that one of so many ranks has.
func (e Estimate) of(ranks int) Estimate {
	n := float64(ranks)
	return Estimate{e.Least / n, e.Mean / n, e.Most / n}
}

const (
	mostSampled  = 1024 // clusters
	sampledShare = 16   // of which one is sampled, unless they are few
	leastSampled = 64   // clusters
)

// need estimates how many neighbours will be found. Weights are stored as they are found,
// so a sample must tell beforehand whether there is room for them, of entry bytes each,
// in the bytes that are left. The estimate is zero where there is room for all pairs and
// nobody wants to know.
func (p *pass) need(r *rows.Request, left, entry int64) (Estimate, error) {
	if n := float64(p.cl.N); n*(n-1)*float64(entry) <= float64(left) && r.Reserve == nil {
		return Estimate{}, nil
	}
	return p.cl.expect(p.ctx, r.Sharing(), p.cl.points, p.count)
}

// ExpectSpans estimates how many numbers the spans of all clusters are, two for a span.
func (cl *List) ExpectSpans(ctx context.Context, kernels *simd.Kernels) (Estimate, error) {
	sweep, spans := cl.Sweep(kernels), []uint32(nil)
	return cl.expect(ctx, nil, func(int) float64 { return 1 }, func(c int) float64 {
		sweep.Clusters(c, c+1, func(int) bool { return true })
		spans = sweep.AppendSpans(spans[:0], c)
		return float64(len(spans))
	})
}

// points returns how many points cluster c has.
func (cl *List) points(c int) float64 { return float64(cl.First[c+1] - cl.First[c]) }

// expect adds up what of tells of all clusters, by a sample of them: it is taken to be in
// proportion to the sizes of the clusters, but for the error. A crowd that the sample meets by
// chance makes for a large error, and so for a small least sum. A crowd that it misses is
// in none of the sums. Ranks share the sample.
func (cl *List) expect(ctx context.Context, ranks *par.Ranks, size, of func(c int) float64) (Estimate, error) {
	clusters := len(cl.First) - 1
	stride := max(clusters/max(leastSampled, min(mostSampled, clusters/sampledShare)), 1)
	sampled := func(i int) (cluster int) { return stride/2 + i*stride }
	sample := make([]float64, par.Blocks(clusters-stride/2, stride))
	from, to := ranks.Part(len(sample))
	for i := from; i < to; i++ {
		if err := ctx.Err(); err != nil {
			return Estimate{}, err
		}
		sample[i] = of(sampled(i))
	}
	if err := par.Gather(ctx, ranks, sample, ranks.Bounds(len(sample))); err != nil {
		return Estimate{}, err
	}
	var sum, sizes, squares, products, sizeSquares, all float64
	for i, found := range sample {
		s := size(sampled(i))
		sum, sizes = sum+found, sizes+s
		squares, products, sizeSquares = squares+found*found, products+found*s, sizeSquares+s*s
	}
	for c := range clusters {
		all += size(c)
	}
	mean, deviation := sum/sizes, 0.0
	if stride > 1 {
		deviation = 4 * math.Sqrt(max(squares-2*mean*products+mean*mean*sizeSquares, 0)) / sizes
	}
	return Estimate{max(mean-deviation, 0) * all, mean * all, (mean + deviation) * all}, nil
}

// count returns how many neighbours the points of cluster c have.
func (p *pass) count(c int) float64 {
	cl, sc := p.cl, p.scratch(0)
	sc.sweep.Clusters(c, c+1, func(int) bool { return true })
	counts := p.counts[cl.First[c]:cl.First[c+1]]
	clear(counts)
	sc.stage = counting
	p.visit(sc, c)
	sum := 0.0
	for _, n := range counts {
		sum += float64(n)
	}
	return sum
}
