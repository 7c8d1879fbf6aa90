// Package profile samples the distances of some points to all points. Radii, numbers of
// neighbours, degrees and the error of a cutoff are estimated from the sample.
package profile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/split"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A Profile is what a sample of rows sees: for each of them a histogram of its
// squared distances to all points, sixteen bins to a factor of two. The
// bandwidth for a wanted degree, the radius for a wanted tolerance, and the
// cost of a graph all follow from it, for any dimension.
type Profile struct {
	Points   int
	farthest float64         // no two points are farther apart
	Most     float64         // the largest norm2 of a distancer
	Rows     [][]DistanceBin // nearest first
	Used     []DistanceBin   // that any row has, each once
	Spreads  map[int]*spread // of the bins in use; empty in few dimensions
	scale    float64         // from squared distances to those of binOf

	last struct { // answer of cutoff: several operators ask the same
		b         base.Bandwidth
		tolerance float64
		radius    float64
	}
}

// DistanceBin counts squared distances from lo up to, not including, hi.
type DistanceBin struct {
	lo, hi float64
	count  float64
	bin    int
}

// Bins are relative to the extent of the points: the last ends at a power of
// two above all squared distances, and what is 2^600 times smaller counts as
// zero. Nothing is, between different points in float32.
const (
	binsPerOctave = 16
	octaves       = 600
	profileBins   = octaves*binsPerOctave + 1
	binShift      = 52 - 4 // exponent and four bits of the mantissa
	binOffset     = (1023 - octaves) * binsPerOctave
)

// binOf returns the bin of a squared distance scaled to be below 1.
func binOf(d2 float64) int {
	return min(max(int(math.Float64bits(d2)>>binShift)-binOffset+1, 0), profileBins-1)
}

// binEdge returns the least scaled squared distance of a bin.
func binEdge(bin int) float64 {
	if bin <= 0 {
		return 0
	}
	return math.Float64frombits(uint64(bin-1+binOffset) << binShift)
}

// sampleGroup is how many sampled rows a worker takes at a time; each piece of
// work has its histograms to itself.
const sampleGroup = 32

// profileBytes is what taking a profile needs: of each worker the histograms of a group of
// rows, and for all rows the bins in use, few hundred of them where nobody makes up
// distances.
func profileBytes(n, d int, o *base.Options) int64 {
	s := int64(SampleRows(n, d))
	workers := min(int64(o.Workers.Count()), s/sampleGroup+1)
	each := distance.DistanceScratchBytes(d) + sampleGroup*profileBins*4
	if d > base.MaxDirect {
		each += profileBins * partsPerBin * 8
	}
	const usedBins, binBytes = 512, 32
	return s*min(int64(n), usedBins)*binBytes + workers*each + int64(n)*8
}

// Refuse refuses a profile that exceeds the memory limit. Where it takes a few megabytes for
// each worker, a limit below that is left to what follows, which can say what is missing.
func Refuse(p *rows.Points, o *base.Options) error {
	need := profileBytes(p.N, p.D, o)
	if few := int64(1+o.Workers.Count()) << 23; need > o.MaxMemory && need <= few {
		return nil
	}
	return o.Take("sample of distances", need)
}

// Take measures the distances of a sample of rows to all points.
func Take(ctx context.Context, p *rows.Points, o *base.Options) (*Profile, error) {
	pr, err := sampleProfile(ctx, p, o)
	if err != nil {
		return nil, fmt.Errorf("kernel: sample of distances: %w", err)
	}
	return pr, nil
}

func sampleProfile(ctx context.Context, p *rows.Points, o *base.Options) (*Profile, error) {
	pr, parts, err := sampleDistances(ctx, p, o)
	if err != nil {
		return nil, err
	}
	var seen [profileBins]bool
	for _, row := range pr.Rows {
		for _, bin := range row {
			if !seen[bin.bin] {
				seen[bin.bin] = true
				pr.Used = append(pr.Used, bin)
			}
		}
	}
	if p.D > base.MaxDirect && !o.Ranks.Alone() {
		if parts, err = gatherParts(ctx, pr.Used, parts, o); err != nil {
			return nil, err
		}
	}
	pr.Spreads = spreadsOf(pr.Used, parts)
	return pr, nil
}

// sampleDistances returns a profile without its used bins and their spreads, and the
// counts of parts of bins that each worker has made. Ranks share the sampled rows.
func sampleDistances(ctx context.Context, p *rows.Points, o *base.Options) (*Profile, [][]uint64, error) {
	q, err := distance.NewDistancer(ctx, p, nil, o.Workers, o.Kernels)
	if err != nil {
		return nil, nil, err
	}
	s := &distanceSample{ctx: ctx, q: q, rows: sampledRows(q, SampleRows(p.N, p.D)), scale: 1}
	if e2 := p.Extent2(); e2 > 0 {
		s.scale = math.Ldexp(1, -math.Ilogb(e2)-2)
	}
	groups := split.Blocks(len(s.rows), sampleGroup)
	s.progress = o.Stage("profile", o.OwnPieces(groups)*split.Blocks(p.N, distance.BlockRows))
	s.bins = make([][]DistanceBin, len(s.rows))
	workers := o.Workers.Count()
	s.scratch, s.counts, s.parts = make([]*distance.DistanceScratch, workers), make([][]uint32, workers), make([][]uint64, workers)
	err = o.Share(ctx, groups, s.Run)
	if err == nil {
		err = ctx.Err() // a piece may have been left half done
	}
	if err == nil {
		err = s.gatherBins(ctx, o)
	}
	return &Profile{Points: p.N, farthest: p.Farthest(), Most: q.Most, Rows: s.bins, scale: s.scale}, s.parts, err
}

// Within estimates the number of neighbours that sampled row i has within the radius of a
// cut.
func (pr *Profile) Within(i int, c cut) (sum float64) {
	for _, b := range pr.Rows[i] {
		if b.bin > c.bin {
			break
		}
		sum += b.count * c.of(b.bin)
	}
	return sum
}

// Neighbours estimates the mean number of neighbours within r, and an upper limit of it
// at 99 percent confidence. Where most distances are in the bin of r the limit is somewhat
// low: how the distances of one row are spread over that bin is not known.
func (pr *Profile) Neighbours(r float64) (mean, upper float64) {
	if math.IsInf(r, 1) {
		return float64(pr.Points - 1), float64(pr.Points - 1)
	}
	squares, c := 0.0, pr.CutAt(r)
	for i := range pr.Rows {
		v := pr.Within(i, c)
		mean += v
		squares += v * v
	}
	s := float64(len(pr.Rows))
	mean /= s
	spread := math.Sqrt(max(squares/s-mean*mean, 0) / s)
	return mean, min(mean+2.33*spread+3/s, float64(pr.Points-1))
}

// Equals returns the mean number of points that a row is equal to, or so near
// that no radius tells them apart.
func (pr *Profile) Equals() float64 {
	sum := 0.0
	for _, bins := range pr.Rows {
		if len(bins) > 0 && bins[0].lo == 0 {
			sum += bins[0].count
		}
	}
	return sum / float64(len(pr.Rows))
}

// RadiusFor returns the radius within which rows have the given mean number of
// neighbours, at most the largest distance seen.
func (pr *Profile) RadiusFor(neighbours float64) float64 {
	return Bisect(pr.farthest, func(r float64) bool {
		mean, _ := pr.Neighbours(r)
		return mean >= neighbours
	})
}

// Bisect returns the least r up to hi for which enough holds, given that it goes
// on holding above; hi if it never does. It halves ratios, not differences: one
// outlier may be farther than a neighbour by any factor.
func Bisect(hi float64, enough func(r float64) bool) float64 {
	lo := hi * 0x1p-120
	if enough(lo) { // there is an outlier as far off as float32 allows
		lo, hi = lo*0x1p-200, lo
	}
	for range 60 {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// Degree returns a lower bound of the degree of sampled row i.
func (pr *Profile) Degree(i int, b base.Bandwidth) float64 {
	sum := 0.0
	for _, bin := range pr.Rows[i] {
		sum += bin.count * b.Weight(bin.hi)
	}
	return sum
}

// Dropped returns the error that 99 in 100 rows of the sample do not exceed when
// weights beyond r are left out, as the certificate will have it. Rows that are isolated
// or nearly so do not count.
func (pr *Profile) Dropped(b base.Bandwidth, r, tolerance float64, far FarBound) float64 {
	if math.IsInf(r, 1) {
		return 0
	}
	var eta []float64
	tails := pr.tailsBeyond(b, r, far)
	for i := range pr.Rows {
		if degree := pr.Degree(i, b); degree >= base.UnderflowDegree(pr.Points, tolerance) {
			eta = append(eta, tails.of(pr.Rows[i])/degree)
		}
	}
	if len(eta) == 0 {
		return 0
	}
	slices.Sort(eta)
	return eta[(len(eta)-1)*99/100]
}

// Degrees are the degrees of a graph as a sample of its rows has them. Package kernel says
// what the fields mean.
type Degrees struct {
	Mean      float64
	Quantiles [5]float64
	Isolated  float64
}

// Degrees describes the degrees of a graph that is truncated at a radius.
func (pr *Profile) Degrees(b base.Bandwidth, radius float64) (out Degrees) {
	radius = min(radius, b.MaxRadius())
	c := pr.CutAt(radius)
	degree, isolated := make([]float64, len(pr.Rows)), 0.0
	for i, bins := range pr.Rows {
		none := 1.0 // the probability that the row has no neighbour
		for _, bin := range bins {
			if bin.bin > c.bin {
				break
			}
			within := c.of(bin.bin)
			none *= math.Pow(1-within, bin.count)
			degree[i] += bin.count * within * b.Weight((bin.lo+min(bin.hi, radius*radius))/2)
		}
		out.Mean += degree[i] / float64(len(pr.Rows))
		if degree[i] == 0 {
			none = 1 // weights that are too small
		}
		isolated += none
	}
	slices.Sort(degree)
	for q, percent := range [...]int{1, 10, 50, 90, 99} {
		out.Quantiles[q] = degree[(len(degree)-1)*percent/100]
	}
	out.Isolated = float64(pr.Points) * isolated / float64(len(pr.Rows))
	return out
}

// A FarBound takes a cutoff and the true distance of a point. It returns a distance: the
// certificate for the cutoff will assume the point no nearer than that.
type FarBound func(r, distance float64) float64

// Cutoff returns the least radius at which the certificate of 99 in 100
// sampled rows passes the tolerance, isolated rows aside, but no more than
// the radius beyond which no weight is kept. Where most pairs are within it
// the answer is +Inf: all pairs cost little more and drop nothing.
func (pr *Profile) Cutoff(b base.Bandwidth, tolerance float64, far FarBound) float64 {
	if pr.last.tolerance != tolerance || pr.last.b != b {
		pr.last.b, pr.last.tolerance, pr.last.radius = b, tolerance, pr.findCutoff(b, tolerance, far)
	}
	return pr.last.radius
}

func (pr *Profile) findCutoff(b base.Bandwidth, tolerance float64, far FarBound) float64 {
	degrees := make([]float64, len(pr.Rows))
	for i := range degrees {
		degrees[i] = pr.Degree(i, b)
	}
	most := min(b.MaxRadius(), pr.farthest)
	if slices.Max(degrees) == 0 {
		return most // nobody in the sample has a neighbour to lose
	}
	radius := Bisect(most, func(r float64) bool {
		missed := 0
		tails := pr.tailsBeyond(b, r, far)
		for i, degree := range degrees {
			if degree > 0 && tails.of(pr.Rows[i]) > tolerance*degree {
				missed++
			}
		}
		return missed*100 <= len(degrees)
	})
	if mean, _ := pr.Neighbours(radius); mean > float64(pr.Points-1)/2 {
		return math.Inf(1)
	}
	return radius
}

// profileTails bound the weight beyond a radius as the certificate will.
type profileTails struct {
	radius2 float64
	weight  [profileBins]float64 // of a point in each bin: rows share them
}

func (pr *Profile) tailsBeyond(b base.Bandwidth, r float64, far FarBound) *profileTails {
	t := &profileTails{radius2: r * r}
	for _, bin := range pr.Used {
		if bin.hi > t.radius2 {
			d := max(r, far(r, math.Sqrt(bin.lo)))
			t.weight[bin.bin] = b.Weight(d * d)
		}
	}
	return t
}

// of returns the bound of a sampled row.
func (t *profileTails) of(row []DistanceBin) (sum float64) {
	for _, bin := range slices.Backward(row) {
		if bin.hi <= t.radius2 {
			break
		}
		sum += bin.count * t.weight[bin.bin]
	}
	return sum
}
