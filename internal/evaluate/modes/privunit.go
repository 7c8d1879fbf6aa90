package modes

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// PrivUnit sends a direction drawn around that of the query (Bhowmick et al.
// 2018) among the few in which the classes of the gallery differ most, and gets a
// row of each of the 8 classes whose means are nearest to it. A direction v
// becomes a uniform one of the cap <u, v> >= gamma with probability p and of the
// rest of the sphere otherwise. With q the share of the cap, the ratio of
// densities is p (1-q) / ((1-p) q), which is set to e^epsilon: pure privacy. gamma
// is the one with the largest mean of <u, v>.
//
// It is measured, not offered: the direction is drawn in float64 from the seed of
// the task.
func PrivUnit() evaluate.Mode {
	return directionMode("privunit", "PrivUnit on discriminant directions", discriminants)
}

// PrivUnitPrepared is PrivUnit on the principal components of the prepared rows.
func PrivUnitPrepared() evaluate.Mode {
	return directionMode("privunit-prepared", "PrivUnit on principal components", components)
}

// A place takes gallery and queries of a task to unit rows of k values. It uses
// nothing of the queries but, row by row, themselves.
type place func(ctx context.Context, t *evaluate.Task, k int) (gallery, queries *mat.Dense, err error)

func directionMode(name, title string, place place) evaluate.Mode {
	return evaluate.Mode{
		Name: name, Title: title,
		Protects: "The whole record of the query, pure epsilon (delta = 0), replace-one, up to the rounding of what is drawn: for comparison only. The dimensions are chosen by the server's own rows.",
		Bounded:  true, Uses: evaluate.UsesEpsilon | evaluate.UsesColumns,
		Defaults: evaluate.Params{Epsilon: 1, Dim: 8},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			return askDirections(ctx, t, place)
		},
	}
}

func askDirections(ctx context.Context, t *evaluate.Task, place place) (*evaluate.Answer, error) {
	if err := (mechanism.Subset{Items: 2, Size: 1, Epsilon: t.Epsilon}).Check(); err != nil {
		return nil, err
	}
	k := t.Dim
	if k < 2 {
		return nil, &evaluate.UnavailableError{Reason: "a direction takes at least 2 dimensions"}
	}
	if err := t.CheckDimensions(k); err != nil {
		return nil, err
	}
	gallery, queries, err := place(ctx, t, k)
	if err != nil {
		return nil, err
	}
	classes, err := newClassMeans(ctx, t, gallery, evaluate.ListLength)
	if err != nil {
		return nil, err
	}
	released := mat.DenseCopyOf(queries)
	unit := newPrivUnit(t.Epsilon, k, rand.New(random.NewSplitMix64(t.Seed)))
	n, _ := released.Dims()
	for i := range n {
		unit.release(released.RawRowView(i))
	}
	near, _, err := nearest.Rows(ctx, released.RawMatrix(), classes.means.RawMatrix(), classes.size, nearest.Settings{Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	a := &evaluate.Answer{Ranking: &evaluate.Ranking{K: evaluate.ListLength}}
	for q := range n {
		a.Ranking.Index = append(a.Ranking.Index, classes.answers(near[q*classes.size:(q+1)*classes.size], queries.RawRowView(q))...)
	}
	return a, nil
}

// components are the leading principal components of the gallery.
func components(_ context.Context, t *evaluate.Task, k int) (gallery, queries *mat.Dense, err error) {
	axes, err := pca.Fit(t.Gallery.RawMatrix(), k)
	if err != nil {
		return nil, nil, err
	}
	directions := func(x *mat.Dense) (*mat.Dense, error) {
		y, err := pca.Project(axes, x.RawMatrix())
		if err != nil {
			return nil, err
		}
		n, _ := y.Dims()
		for i := range n {
			if points.Normalize(y.RawRowView(i)) == 0 {
				return nil, &points.ZeroRowError{Row: i}
			}
		}
		return y, nil
	}
	if gallery, err = directions(t.Gallery); err != nil {
		return nil, nil, err
	}
	queries, err = directions(t.Queries)
	return gallery, queries, err
}

// discriminants are the images under the map of mode supervised in k dimensions.
func discriminants(ctx context.Context, t *evaluate.Task, k int) (gallery, queries *mat.Dense, err error) {
	m, err := classicMap(ctx, t, k)
	if err != nil {
		return nil, nil, unlessPairs(err)
	}
	queries, gallery, err = apply(m, t)
	return gallery, queries, err
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
	most := math.Inf(-1)
	const steps = 400
	for i := 1; i < steps; i++ {
		x := float64(i) / steps
		low := mathext.RegIncBeta(u.a, u.a, x)
		inside := 1 - low
		if inside < 1e-12 || low < 1e-12 {
			continue
		}
		p := inside / (inside + math.Exp(-epsilon)*low)
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
