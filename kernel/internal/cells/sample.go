package cells

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// An Estimate is a sum over all clusters, by a sample of them: the mean of the sample, and
// what is four times its standard error below and above.
type Estimate struct{ Least, Mean, Most float64 }

// Sharp reports whether the sample tells the sum to a quarter. Otherwise few clusters have
// most of it, and the sample may have met more or fewer of these than there are.
func (e Estimate) Sharp() bool { return e.Most <= 1.25*e.Mean }

// of returns the estimate of the part that each of several ranks has.
func (e Estimate) of(ranks int) Estimate {
	n := float64(ranks)
	return Estimate{e.Least / n, e.Mean / n, e.Most / n}
}

const (
	mostSampled  = 1024 // clusters, by one process
	sharedStride = 128  // of the sample of several ranks, at most: four clusters of each piece
	sampledShare = 16   // of which one is sampled, unless they are few
	leastSampled = 64   // clusters
)

// A sample is every so many clusters. Each stands for the clusters around it.
type sample struct {
	clusters, stride int
	count            int // clusters in the sample
}

// sampleOf returns the sample that a number of ranks share. Several ranks want more of large lists:
// what the sample does not see of a crowd, one of them has beyond its share.
func (cl *List) sampleOf(ranks int) sample {
	clusters := len(cl.First) - 1
	stride := max(clusters/max(leastSampled, min(mostSampled, clusters/sampledShare)), 1)
	if ranks > 1 {
		stride = min(stride, sharedStride)
	}
	return sample{clusters, stride, split.Blocks(clusters-stride/2, stride)}
}

// cluster returns cluster i of the sample.
func (s sample) cluster(i int) int { return s.stride/2 + i*s.stride }

// begin returns the first of the clusters that cluster i of the sample stands for, and of i = count
// the end.
func (s sample) begin(i int) int {
	if i == s.count {
		return s.clusters
	}
	return i * s.stride
}

// need estimates how many neighbours will be found. Weights are stored as they are found,
// so a sample must tell beforehand whether there is room for them, of entry bytes each,
// in the bytes that are left. The estimate is zero where there is room for all pairs and
// nobody wants to know.
func (p *pass) need(r *rows.Request, left, entry int64) (Estimate, error) {
	n := float64(p.cl.N)
	known := n*(n-1)*float64(entry) <= float64(left) && r.Reserve == nil
	if known && r.Sharing().Alone() {
		return Estimate{}, nil
	}
	if err := p.look(r.Sharing()); err != nil || known {
		return Estimate{}, err
	}
	return p.cl.expect(p.sample, p.cl.points, func(i int) float64 { return p.sampled[2*i] }), nil
}

// look sets sample and sampled. Ranks share the sample.
func (p *pass) look(ranks *par.Ranks) error {
	p.sample = p.cl.sampleOf(ranks.Size())
	p.sampled = make([]float64, 2*p.sample.count)
	bounds := ranks.Bounds(p.sample.count)
	for i := bounds[ranks.Rank()]; i < bounds[ranks.Rank()+1]; i++ {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		c := p.sample.cluster(i)
		p.sampled[2*i] = p.count(c)
		if !ranks.Alone() {
			p.sampled[2*i+1] = p.seconds(c, p.sampled[2*i])
		}
	}
	for r := range bounds {
		bounds[r] *= 2
	}
	return exchange.Gather(p.ctx, ranks, p.sampled, bounds)
}

// ExpectSpans estimates how many numbers the spans of all clusters are, two for a span.
func (cl *List) ExpectSpans(ctx context.Context, kernels *simd.Kernels) (Estimate, error) {
	sweep, s := cl.Sweep(kernels), cl.sampleOf(1)
	numbers, spans := make([]float64, s.count), []uint32(nil)
	for i := range numbers {
		if err := ctx.Err(); err != nil {
			return Estimate{}, err
		}
		c := s.cluster(i)
		sweep.Clusters(c, c+1, func(int) bool { return true })
		spans = sweep.AppendSpans(spans[:0], c)
		numbers[i] = float64(len(spans))
	}
	return cl.expect(s, func(int) float64 { return 1 }, func(i int) float64 { return numbers[i] }), nil
}

// points returns how many points cluster c has.
func (cl *List) points(c int) float64 { return float64(cl.First[c+1] - cl.First[c]) }

// expect adds up what is told of the clusters of a sample, over all clusters: it is taken to be in
// proportion to the sizes of the clusters, but for the error. A crowd that the sample meets by
// chance makes for a large error, and so for a small least sum. A crowd that it misses is
// in none of the sums.
func (cl *List) expect(sample sample, size, told func(i int) float64) Estimate {
	var sum, sizes, squares, products, sizeSquares, all float64
	for i := range sample.count {
		found, s := told(i), size(sample.cluster(i))
		sum, sizes = sum+found, sizes+s
		squares, products, sizeSquares = squares+found*found, products+found*s, sizeSquares+s*s
	}
	for c := range sample.clusters {
		all += size(c)
	}
	mean, deviation := sum/sizes, 0.0
	if sample.stride > 1 {
		deviation = 4 * math.Sqrt(max(squares-2*mean*products+mean*mean*sizeSquares, 0)) / sizes
	}
	return Estimate{max(mean-deviation, 0) * all, mean * all, (mean + deviation) * all}
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
