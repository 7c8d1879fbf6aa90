package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// What a query can get without over-fetch: K rows come back and are the answer.
// These are yardsticks for mode cells. The noise here is simulated from a seed
// and releases nothing.

// SubsetRecall returns the Recall@K of w-subset selection over the classes of the
// gallery: a query releases w classes instead of the one whose mean is nearest to
// it, and gets rows of these. size is w; 1 is randomised response. With K >= w
// rows at least one is of each class, so the recall is the probability that the
// class of the query is among them, which is exact, not sampled. Its ceiling is
// that of w answers.
//
// trueClass puts the label of the query in place of the nearest mean: the
// mechanism alone, which attains the ceiling.
//
// Errors are ErrShape, ErrNonFinite, and mechanism.ErrParam, also where there are
// not more than size classes.
func (t *CellsTask) SubsetRecall(epsilon float64, size int, trueClass bool) (float64, error) {
	if err := t.check(); err != nil {
		return 0, fmt.Errorf("evaluate: subset: %w", err)
	}
	classes, means := t.classMeans()
	subset := mechanism.Subset{Items: len(classes), Size: size, Epsilon: epsilon}
	p, err := subset.Inclusion()
	if err != nil {
		return 0, fmt.Errorf("evaluate: subset: %w", err)
	}
	// Another class than the released one is in the set beside it, or instead.
	w, m := float64(size), float64(len(classes))
	other := (p*(w-1) + (1-p)*w) / (m - 1)
	sum := 0.0
	for q, label := range t.QueryLabels {
		chosen := label
		if !trueClass {
			chosen = classes[nearestRow(means, queryRow(t.QueryRanking, q))]
		}
		switch {
		case !slices.Contains(classes, label):
		case chosen == label:
			sum += p
		default:
			sum += other
		}
	}
	return sum / float64(len(t.QueryLabels)), nil
}

// classMeans returns the classes of the gallery, rising, and the mean of each in
// the ranking space. Unlabelled rows have no part in it.
func (t *CellsTask) classMeans() (classes []int32, means blas64.General) {
	for _, label := range t.GalleryLabels {
		if label >= 0 {
			classes = append(classes, label)
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	d := t.Ranking.Cols
	means = blas64.General{Rows: len(classes), Cols: d, Stride: d, Data: make([]float64, len(classes)*d)}
	count := make([]float64, len(classes))
	for i, label := range t.GalleryLabels {
		c, ok := slices.BinarySearch(classes, label)
		if !ok {
			continue
		}
		count[c]++
		for j, v := range queryRow(t.Ranking, i) {
			means.Data[c*d+j] += v
		}
	}
	for c := range classes {
		for j := range d {
			means.Data[c*d+j] /= count[c]
		}
	}
	return classes, means
}

func queryRow(x blas64.General, i int) []float64 { return x.Data[i*x.Stride:][:x.Cols] }

func nearestRow(x blas64.General, row []float64) int {
	best, least := 0, math.Inf(1)
	for i := range x.Rows {
		var d float64
		for j, v := range queryRow(x, i) {
			d += (v - row[j]) * (v - row[j])
		}
		if d < least {
			best, least = i, d
		}
	}
	return best
}

// GaussianRecall returns the Recall@K of a search with noisy queries: Gaussian
// noise for replacing one unit row by any other, which is a distance of 2, at
// (epsilon, delta) by the analytic rule. The rows of the ranking space must have
// unit length.
//
// Errors are ErrShape, ErrNonFinite, mechanism.ErrParam and that of the context.
func (t *CellsTask) GaussianRecall(ctx context.Context, epsilon, delta float64, k int, seed uint64) (float64, error) {
	c, err := mechanism.Analytic.Multiplier(epsilon, delta)
	if err != nil {
		return 0, fmt.Errorf("evaluate: gaussian: %w", err)
	}
	noise := rand.New(points.NewSplitMix64(seed))
	return t.noisyRecall(ctx, t.Ranking, t.QueryRanking, k, func(row []float64) {
		for j := range row {
			row[j] += 2 * c * noise.NormFloat64()
		}
	})
}

// PrivUnitRecall returns the Recall@K of a search with the directions that
// PrivUnit (Bhowmick et al. 2018) releases for the queries, after all rows were
// projected on the leading principal components of the gallery and scaled to unit
// length. A direction v becomes a uniform one of the cap <u, v> >= gamma with
// probability p and of the rest of the sphere otherwise. With q the share of the
// cap, the ratio of densities is p (1-q) / ((1-p) q), which is set to e^epsilon:
// pure privacy. gamma is the one with the largest mean of <u, v>.
//
// Errors are ErrShape, also for less than 2 dimensions, ErrNonFinite, ErrZeroRow,
// mechanism.ErrParam and that of the context.
func (t *CellsTask) PrivUnitRecall(ctx context.Context, epsilon float64, dimension, k int, seed uint64) (float64, error) {
	if err := t.check(); err != nil {
		return 0, fmt.Errorf("evaluate: privunit: %w", err)
	}
	if dimension < 2 {
		return 0, fmt.Errorf("evaluate: privunit: %w: %d dimensions", ErrShape, dimension)
	}
	if err := (mechanism.Subset{Items: 2, Size: 1, Epsilon: epsilon}).Check(); err != nil {
		return 0, fmt.Errorf("evaluate: privunit: %w", err)
	}
	components, err := points.PCA(t.Ranking, dimension)
	if err != nil {
		return 0, fmt.Errorf("evaluate: privunit: %w", err)
	}
	var projected [2]blas64.General
	for i, x := range []blas64.General{t.Ranking, t.QueryRanking} {
		y, err := points.Project(components, x)
		if err == nil {
			err = normalizeRows(y)
		}
		if err != nil {
			return 0, fmt.Errorf("evaluate: privunit: %w", err)
		}
		projected[i] = y.RawMatrix()
	}
	unit := newPrivUnit(epsilon, dimension, rand.New(points.NewSplitMix64(seed)))
	return t.noisyRecall(ctx, projected[0], projected[1], k, unit.release)
}

// privUnit releases directions.
type privUnit struct {
	noise *rand.Rand
	a     float64 // (1 + <u, v>)/2 of a uniform u has the law Beta(a, a)
	low   float64 // the share of the sphere outside of the cap
	p     float64 // probability of the cap
}

func newPrivUnit(epsilon float64, d int, noise *rand.Rand) *privUnit {
	u := &privUnit{noise: noise, a: float64(d-1) / 2}
	e := math.Exp(epsilon)
	most := math.Inf(-1)
	const steps = 400
	for i := 1; i < steps; i++ {
		x := float64(i) / steps
		low := mathext.RegIncBeta(u.a, u.a, x)
		inside := 1 - low
		if inside < 1e-12 || low < 1e-12 {
			continue
		}
		p := e * inside / (e*inside + low)
		// The integral of <u, v> over the cap, up to a constant factor, is
		// (x (1-x))^a, and over the rest the negative of it.
		mean := math.Exp(u.a*math.Log(x*(1-x))) * (p/inside - (1-p)/low)
		if mean > most {
			most, u.low, u.p = mean, low, p
		}
	}
	return u
}

// release replaces a unit row.
func (u *privUnit) release(row []float64) {
	share := u.low * u.noise.Float64() // outside of the cap
	if u.noise.Float64() < u.p {
		share = u.low + (1-u.low)*u.noise.Float64()
	}
	along := 2*mathext.InvRegIncBeta(u.a, u.a, share) - 1
	// A uniform direction across the row.
	across := make([]float64, len(row))
	for {
		inner := 0.0
		for j, v := range row {
			across[j] = u.noise.NormFloat64()
			inner += across[j] * v
		}
		for j, v := range row {
			across[j] -= inner * v
		}
		if points.Normalize(across) > 0 {
			break
		}
	}
	for j := range row {
		row[j] = along*row[j] + math.Sqrt(max(0, 1-along*along))*across[j]
	}
}

// noisyRecall searches with a copy of the queries, each of which was changed.
func (t *CellsTask) noisyRecall(ctx context.Context, gallery, queries blas64.General, k int, change func(row []float64)) (float64, error) {
	if err := t.check(); err != nil {
		return 0, fmt.Errorf("evaluate: noisy queries: %w", err)
	}
	noisy := blas64.General{Rows: queries.Rows, Cols: queries.Cols, Stride: queries.Cols}
	for i := range queries.Rows {
		row := slices.Clone(queryRow(queries, i))
		change(row)
		noisy.Data = append(noisy.Data, row...)
	}
	r, err := Nearest(ctx, noisy, gallery, k, nil)
	if err != nil {
		return 0, err
	}
	s, err := r.Score(t.QueryLabels, t.GalleryLabels, k)
	if err != nil {
		return 0, err
	}
	return s.At[0].Recall, nil
}
