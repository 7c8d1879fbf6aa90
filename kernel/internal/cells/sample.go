package cells

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// An estimate says how many neighbours a pass will find: the mean of a sample, and what
// is four times its standard error below and above.
type estimate struct{ least, mean, most float64 }

const (
	mostSampled  = 1024 // clusters
	sampledShare = 16   // of which one is sampled, unless they are few
	leastSampled = 64   // clusters
)

// need estimates how many neighbours will be found. Weights are stored as they are found,
// so a sample must tell beforehand whether there is room for them, of entry bytes each,
// in the bytes that are left. The estimate is zero where there is room for all pairs and
// nobody wants to know.
func (p *pass) need(r *rows.Request, left, entry int64) (estimate, error) {
	if n := float64(p.cl.N); n*(n-1)*float64(entry) <= float64(left) && r.Reserve == nil {
		return estimate{}, nil
	}
	return p.expect()
}

// expect counts the neighbours of a sample of clusters. A crowd that the sample meets by
// chance makes for a large error, and so for a small least number. A crowd that it misses
// is in none of the numbers.
func (p *pass) expect() (estimate, error) {
	clusters := len(p.cl.First) - 1
	stride := max(clusters/max(leastSampled, min(mostSampled, clusters/sampledShare)), 1)
	count, sum, squares := 0.0, 0.0, 0.0
	for c := stride / 2; c < clusters; c += stride {
		if err := p.ctx.Err(); err != nil {
			return estimate{}, err
		}
		found := p.count(c)
		count, sum, squares = count+1, sum+found, squares+found*found
	}
	mean := sum / count
	deviation := 0.0
	if stride > 1 {
		deviation = 4 * math.Sqrt(max(squares/count-mean*mean, 0)/count)
	}
	all := float64(clusters)
	return estimate{max(mean-deviation, 0) * all, mean * all, (mean + deviation) * all}, nil
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
