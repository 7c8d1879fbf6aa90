package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

// A profile is what a sample of rows sees: for each of them a histogram of its
// squared distances to all points, sixteen bins to a factor of two. The
// bandwidth for a wanted degree, the radius for a wanted tolerance, and the
// cost of a graph all follow from it, for any dimension.
type profile struct {
	points int
	rows   [][]distanceBin // nearest first
}

// distanceBin counts squared distances from lo up to, not including, hi.
type distanceBin struct {
	lo, hi float64
	count  float64
}

const (
	binsPerOctave  = 16
	smallestOctave = -128 // squared distances below 2^-128 count as zero
	profileBins    = 256*binsPerOctave + 1
	binShift       = 52 - 4 // exponent and four bits of the mantissa
	binOffset      = (1023 + smallestOctave) * binsPerOctave
)

func binOf(d2 float64) int {
	return min(max(int(math.Float64bits(d2)>>binShift)-binOffset+1, 0), profileBins-1)
}

func binEdge(bin int) float64 {
	if bin <= 0 {
		return 0
	}
	return math.Float64frombits(uint64(bin-1+binOffset) << binShift)
}

// sampleRows returns how many rows are sampled: as many as give good averages,
// fewer where each is dear.
func sampleRows(n, d int) int {
	const work = 2e9 // about a second
	rows := work / (float64(n) * (8 + float64(d)/10))
	return min(n, int(max(64, min(tileRows, rows))))
}

// takeProfile measures the distances of a sample of rows to all points.
func takeProfile(ctx context.Context, p *pointSet, o *Options) (*profile, error) {
	q := newDistancer(p, nil)
	s := sampleRows(p.n, p.d)
	sample := make([]int, s)
	for i := range sample {
		sample[i] = i
		if s < p.n {
			// The golden ratio spreads any number of rows evenly and avoids the
			// periods that data in some order may have.
			_, fraction := math.Modf(float64(i) * (math.Sqrt(5) - 1) / 2)
			sample[i] = int(fraction * float64(p.n))
		}
	}
	slices.Sort(sample)
	sample = slices.Compact(sample)
	s = len(sample)
	panel := make([]float64, s*p.d)
	var norm2 []float64
	for i, row := range sample {
		q.load(panel[i*p.d:], row, row+1)
		norm2 = append(norm2, q.norms(row, row+1)...)
	}
	hist := make([][]uint32, o.Workers.Workers()) // counts add up the same in any order
	tiles := make([]*tile, len(hist))
	blocks := par.Blocks(p.n, tileRows)
	progress := o.progress("profile", blocks)
	err := o.Workers.Do(ctx, blocks, par.Func(func(worker, piece int) {
		if hist[worker] == nil {
			hist[worker], tiles[worker] = make([]uint32, s*profileBins), newTile(p.d)
		}
		t := tiles[worker]
		lo, hi := par.Block(piece, p.n, tileRows)
		q.load(t.b, lo, hi)
		q.measure(t, panel, norm2, s, t.b, q.norms(lo, hi), hi-lo)
		for i, self := range sample {
			counts := hist[worker][i*profileBins:][:profileBins]
			for j, d2 := range t.d2[i*t.stride:][:hi-lo] {
				if lo+j != self {
					counts[binOf(d2)]++
				}
			}
		}
		progress.add()
	}))
	if err != nil {
		return nil, err
	}
	pr := &profile{points: p.n, rows: make([][]distanceBin, s)}
	for i := range pr.rows {
		for bin := range profileBins {
			count := 0.0
			for _, h := range hist {
				if h != nil {
					count += float64(h[i*profileBins+bin])
				}
			}
			if count > 0 {
				pr.rows[i] = append(pr.rows[i], distanceBin{binEdge(bin), binEdge(bin + 1), count})
			}
		}
	}
	return pr, nil
}

// within estimates the number of neighbours within r that sampled row i has.
func (pr *profile) within(i int, r float64) float64 {
	sum, r2 := 0.0, r*r
	for _, b := range pr.rows[i] {
		switch {
		case b.hi <= r2:
			sum += b.count
		case b.lo <= r2:
			sum += b.count * (r2 - b.lo) / (b.hi - b.lo)
		}
	}
	return sum
}

// neighbours estimates the mean number of neighbours within r, and a value the
// mean exceeds in one case of a hundred only.
func (pr *profile) neighbours(r float64) (mean, upper float64) {
	if math.IsInf(r, 1) {
		return float64(pr.points - 1), float64(pr.points - 1)
	}
	squares := 0.0
	for i := range pr.rows {
		v := pr.within(i, r)
		mean += v
		squares += v * v
	}
	s := float64(len(pr.rows))
	mean /= s
	spread := math.Sqrt(max(squares/s-mean*mean, 0) / s)
	return mean, min(mean+2.33*spread+3/s, float64(pr.points-1))
}

// radiusFor returns the radius within which rows have the given mean number of
// neighbours, at most the largest distance seen.
func (pr *profile) radiusFor(neighbours float64) float64 {
	return bisect(0, pr.farthest(), func(r float64) bool {
		mean, _ := pr.neighbours(r)
		return mean >= neighbours
	})
}

func (pr *profile) farthest() float64 {
	r2 := 0.0
	for _, bins := range pr.rows {
		if len(bins) > 0 {
			r2 = max(r2, bins[len(bins)-1].hi)
		}
	}
	return math.Sqrt(r2)
}

// bisect returns the least r in [lo, hi] for which enough holds, given that it
// goes on holding above; hi if it never does.
func bisect(lo, hi float64, enough func(r float64) bool) float64 {
	for range 60 {
		mid := lo + (hi-lo)/2
		if enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// degree returns a lower bound of the degree of sampled row i.
func (pr *profile) degree(i int, b Bandwidth) float64 {
	sum := 0.0
	for _, bin := range pr.rows[i] {
		sum += bin.count * b.Weight(bin.hi)
	}
	return sum
}

// A farBound returns a lower bound of the distance that a certificate for
// cutoff r will know of a point that is really at the given distance.
type farBound func(r, distance float64) float64

// cutoff returns the least radius at which the certificate of 99 in 100
// sampled rows passes the tolerance, isolated rows aside, but no more than
// the radius beyond which no weight is kept. Where most pairs are within it
// the answer is +Inf: all pairs cost little more and drop nothing.
func (pr *profile) cutoff(b Bandwidth, tolerance float64, far farBound) float64 {
	degrees := make([]float64, len(pr.rows))
	for i := range degrees {
		degrees[i] = pr.degree(i, b)
	}
	radius := bisect(0, min(maxRadius(b), pr.farthest()), func(r float64) bool {
		missed := 0
		for i, degree := range degrees {
			if degree > 0 && pr.tail(i, b, r, far) > tolerance*degree {
				missed++
			}
		}
		return missed*100 <= len(degrees)
	})
	if mean, _ := pr.neighbours(radius); mean > float64(pr.points-1)/2 {
		return math.Inf(1)
	}
	return radius
}

// tail bounds the weight beyond r of sampled row i as the certificate will.
func (pr *profile) tail(i int, b Bandwidth, r float64, far farBound) float64 {
	sum := 0.0
	for _, bin := range slices.Backward(pr.rows[i]) {
		if bin.hi <= r*r {
			break
		}
		d := max(r, far(r, math.Sqrt(bin.lo)))
		sum += bin.count * b.Weight(d*d)
	}
	return sum
}

// maxRadius is where weights leave the normal float32 range; what lies beyond
// counts as dropped.
func maxRadius(b Bandwidth) float64 { return b.Radius(0x1p-126) }
