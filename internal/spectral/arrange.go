package spectral

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// ArrangeSettings are the settings of Arrange. Columns is required.
type ArrangeSettings struct {
	// Dim is the number of columns of the result, at most the number of
	// eigenvectors.
	Dim int
	// Components is the number of parts of the graph that no weight connects, not
	// counting isolated rows. Default 1.
	Components int
	// Workers share the work; nil means the caller works alone.
	Workers *par.Workers
	// Progress, if set, is called with the number of finished rounds and their total.
	Progress func(done, total int)
}

// An Arrangement is the result of Arrange.
type Arrangement struct {
	// Points has a row for each point and Dim columns. A row without neighbours is zero.
	Points blas32.General
	// Coefficients has a row a_j for each eigenvector: Points is the sum over j of
	// column j of Eigenvectors.Points times a_j.
	Coefficients *mat.Dense
}

const (
	landmarks    = 1000 // rows that stand for all rows in the repulsion
	arrangeSteps = 4    // from a map of the first eigenvectors to one of all of them
	roundSteps   = 60   // largest number of steps in a round
	sharpness    = 4    // of the last round: mu_m/mu_ref is 1/sharpness
	farApart     = 0.2  // mu of parts that nothing connects, as a share of the first mu above 0
)

// Arrange makes a map of k columns, for pictures mostly two, out of m > k eigenvectors. The
// first two alone separate few clusters, and along a strip the second is a function of the
// first. A linear map of all m keeps rows near that are near in the graph, and need not
// fold.
//
// With z_i the row of the eigenvectors of point i, each scaled to variance 1, and
// mu_j = 1 - lambda_j, row i of the map is y_i = sum_j z_ij a_j. The coefficients minimise
//
//	E = 2 sum_j (mu_j/mu_ref) |a_j|^2 + log sum_{i != l} 1/(1 + |y_i - y_l|^2).
//
// The first sum is the sum of w_il |y_i - y_l|^2 over all weights, divided by the sum of
// the weights: the eigenvectors make it diagonal. So E has the attraction of stochastic
// neighbour embedding (Hinton and Roweis 2002) and the repulsion of t-SNE (van der Maaten
// and Hinton 2008), within the span of the eigenvectors (Koren 2004). The repulsion is
// summed over the pairs of at most 1000 rows. mu_ref grows from a value at which only the
// first columns count to 4 mu_m. Each round begins with the map of the round before, as in
// the elastic embedding (Carreira-Perpiñán 2010): the map begins flat, without folds that
// a later round would have to undo. Rounds take quasi-Newton steps that begin with the
// curvature of the attraction (Vladymyrov and Carreira-Perpiñán 2012).
//
// Parts of the graph that nothing connects have lambda = 1. For them mu is 0.2 times the
// first mu of the others, so that they lie next to each other and not infinitely far away.
//
// The bits are the same for any number of workers. Errors: kernel.ErrOption, iterate.ErrDiverged, and
// the error of ctx.
func Arrange(ctx context.Context, e *Eigenvectors, settings *ArrangeSettings) (*Arrangement, error) {
	m := len(e.Values)
	if settings == nil || settings.Dim < 1 || settings.Dim > m || settings.Components < 0 {
		return nil, fmt.Errorf("iterate: arrange: %w: want 1 to %d columns, and components of 0 or more", kernel.ErrOption, m)
	}
	if x := e.Points; x.Cols != m || x.Rows < 1 || x.Stride < m || len(x.Data) < (x.Rows-1)*x.Stride+m {
		return nil, fmt.Errorf("iterate: arrange: %w: %d eigenvalues for points of %d x %d", kernel.ErrOption, m, x.Rows, x.Cols)
	}
	a := newArranging(e, settings)
	rounds := a.references()
	for round, ref := range rounds {
		if err := a.round(ctx, ref); err != nil {
			return nil, fmt.Errorf("iterate: arrange: %w", err)
		}
		if settings.Progress != nil {
			settings.Progress(round+1, len(rounds))
		}
	}
	return a.result(e)
}

// arranging is the state of Arrange.
type arranging struct {
	k, m    int
	workers *par.Workers
	factor  []float64 // from a column of the eigenvectors to one of variance 1
	mu      []float64
	first   float64   // the least mu that counts in the first round
	z       []float64 // rows of the landmarks, m numbers each
	n       int       // landmarks
	coef    []float64 // a_j, k numbers each, for the mu_ref of the last round
	ref     float64   // of the last round; 0 before the first
	y       []float64 // the map of the landmarks
	push    []float64 // the repulsion of each by the others, k numbers each
	share   []float64 // of each landmark in the sum of the repulsion
}

func newArranging(e *Eigenvectors, s *ArrangeSettings) *arranging {
	m := len(e.Values)
	a := &arranging{k: s.Dim, m: m, workers: s.Workers, factor: make([]float64, m), mu: attraction(e.Values, s.Components)}
	a.first = a.mu[min(a.k, m)-1]
	for j, lambda := range e.Values {
		if lambda > leastLambda { // below, a column is only rounding errors
			a.factor[j] = math.Sqrt(e.Mass) / lambda
		}
	}
	for _, i := range pickRows(e.Points) {
		for j, v := range row(e.Points, i) {
			a.z = append(a.z, float64(v)*a.factor[j])
		}
		a.n++
	}
	a.y, a.push, a.share = make([]float64, a.n*a.k), make([]float64, a.n*a.k), make([]float64, a.n)
	a.coef = make([]float64, m*a.k)
	for c := range a.k {
		a.coef[c*a.k+c] = 0.5
	}
	return a
}

// leastLambda is the least eigenvalue whose vector is used: the column of the
// eigenvectors is a multiple of the eigenvalue.
const leastLambda = 1e-3

// attraction returns mu_j = 1 - lambda_j, except for components that nothing connects.
func attraction(values []float64, components int) []float64 {
	apart := min(max(components, 1)-1, len(values)) // this many have lambda = 1
	mu := make([]float64, len(values))
	for j := apart; j < len(mu); j++ {
		mu[j] = max(1-values[j], 1e-7) // products are float32
	}
	least := 1.0
	if apart < len(mu) {
		least = farApart * mu[apart]
	}
	for j := range apart {
		mu[j] = least
	}
	return mu
}

// pickRows returns the landmarks: one row of each stretch of the rows that are not zero.
func pickRows(x blas32.General) (picked []int) {
	var connected []int
	for i := range x.Rows {
		for _, v := range row(x, i) {
			if v != 0 {
				connected = append(connected, i)
				break
			}
		}
	}
	n := len(connected)
	count := min(n, landmarks)
	rng := rand.New(rand.NewPCG(1, 3))
	for s := range count {
		lo, hi := split.Part(n, s, count), split.Part(n, s+1, count)
		picked = append(picked, connected[lo+rng.IntN(hi-lo)])
	}
	return picked
}

// references returns the mu_ref of the rounds.
func (a *arranging) references() []float64 {
	from, to := 1.5*a.first, sharpness*a.mu[a.m-1]
	out := make([]float64, arrangeSteps)
	for r := range out {
		out[r] = from * math.Pow(to/from, float64(r)/float64(len(out)-1))
	}
	return out
}

// round minimises E for one mu_ref.
func (a *arranging) round(ctx context.Context, ref float64) error {
	if a.ref > 0 {
		for i := range a.coef {
			a.coef[i] *= math.Sqrt(ref / a.ref) // lengths are in units of 1/sqrt(mu_ref)
		}
	}
	a.ref = ref
	curvature := make([]float64, len(a.coef))
	for i := range curvature {
		curvature[i] = 4 * a.mu[i/a.k] / ref
	}
	return minimise(a.coef, curvature, roundSteps, func(gradient []float64) (float64, error) { return a.energy(ctx, gradient) })
}

// energy returns E at a.coef and sets its gradient.
func (a *arranging) energy(ctx context.Context, gradient []float64) (float64, error) {
	const rowsPerPiece = 32
	pieces := split.Blocks(a.n, rowsPerPiece)
	if err := a.workers.Do(ctx, pieces, par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, a.n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			a.place(i)
		}
	})); err != nil {
		return 0, err
	}
	if err := a.workers.Do(ctx, pieces, par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, a.n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			a.repel(i)
		}
	})); err != nil {
		return 0, err
	}
	total := 0.0
	for _, v := range a.share {
		total += v
	}
	value := math.Log(total)
	for i, v := range a.coef {
		nu := a.mu[i/a.k] / a.ref
		value += 2 * nu * v * v
		gradient[i] = 4 * nu * v
	}
	for i := range a.n {
		push := a.push[i*a.k:][:a.k]
		for j, z := range a.z[i*a.m:][:a.m] {
			for c, v := range push {
				gradient[j*a.k+c] -= 4 / total * z * v
			}
		}
	}
	return value, nil
}

// place sets the map of landmark i.
func (a *arranging) place(i int) {
	y := a.y[i*a.k:][:a.k]
	clear(y)
	for j, z := range a.z[i*a.m:][:a.m] {
		for c, v := range a.coef[j*a.k:][:a.k] {
			y[c] += z * v
		}
	}
}

// repel sets the contribution of the other landmarks to the repulsion of landmark i
// and to its gradient.
func (a *arranging) repel(i int) {
	y, push := a.y[i*a.k:][:a.k], a.push[i*a.k:][:a.k]
	clear(push)
	sum := 0.0
	for l := range a.n {
		if l == i {
			continue
		}
		other := a.y[l*a.k:][:len(y)]
		d2 := 0.0
		for c, v := range y {
			d2 += (v - other[c]) * (v - other[c])
		}
		w := 1 / (1 + d2)
		sum += w
		for c, v := range y {
			push[c] += w * w * (v - other[c])
		}
	}
	a.share[i] = sum
}

// result applies the coefficients to all rows.
func (a *arranging) result(e *Eigenvectors) (*Arrangement, error) {
	out := &Arrangement{Points: newMatrix(e.Points.Rows, a.k), Coefficients: mat.NewDense(a.m, a.k, nil)}
	for i, v := range a.coef {
		if v-v != 0 {
			return nil, fmt.Errorf("iterate: arrange: %w", iterate.ErrDiverged)
		}
		out.Coefficients.Set(i/a.k, i%a.k, v*a.factor[i/a.k])
	}
	for i := range e.Points.Rows {
		dst := row(out.Points, i)
		for c := range dst {
			sum := 0.0
			for j, v := range row(e.Points, i) {
				sum += float64(v) * out.Coefficients.At(j, c)
			}
			dst[c] = float32(sum)
		}
	}
	return out, nil
}
