package spectral

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Converge returns the leading eigenvectors of the graph. Steps of form Attract
// lead there if the columns are kept orthogonal. They are the eigenvectors of
// the k largest eigenvalues of
//
//	M = D^(-1/2) (W/dbar + beta W_Y) D^(-1/2),   D = Diag(L), L as in iterate.Run,
//
// without the constant one. With M u = lambda u, |u| = 1, column j of the
// result is lambda_j D^(-1/2) u_j, rows in the order of the points; its entry of
// largest magnitude is positive. A row without neighbours is zero. step.Form
// must be kernel.Attract, and step.Labels are in the order of the points, as in
// Run. Where a component of the graph is not connected to the rest, lambda = 1
// is repeated and its eigenvectors distinguish the components.
//
// The result is a map of clusters, for pictures and for k-means. For retrieval
// it is worse than the points themselves: it keeps which rows belong together
// and forgets which are near each other.
//
// The method is subspace iteration on a block of k + 8 columns. A Chebyshev
// polynomial of M makes the wanted directions grow, a Rayleigh-Ritz projection
// sorts them, until |M u - lambda u| <= Tolerance for each of the k: up to 20 products
// for a projection, in float32 with sums over rows in float64. It accepts every
// operator and uses only its degrees and products. The bits are the same for any
// number of workers; they depend on the level of Kernels.
//
// It is fast where the wanted eigenvalues are well above the eighth after them. Where
// they belong to a larger cluster, as small eigenvalues often do, it takes long, and
// ends with iterate.StepLimit and the residuals reached.
//
// Errors: kernel.ErrOption, kernel.ErrShape for more columns than there are eigenvectors,
// those of kernel.Step.Check, kernel.ErrMemory, iterate.ErrDiverged, and the error of ctx.
func Converge(ctx context.Context, op kernel.Operator, step kernel.Step, settings *ConvergeSettings) (*Eigenvectors, error) {
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	if step.Form != kernel.Attract {
		return nil, fmt.Errorf("iterate: converge: %w: form %v, want %v", kernel.ErrOption, step.Form, kernel.Attract)
	}
	c, err := newConvergence(op, step, s)
	if err == nil && s.Start.Data != nil {
		err = c.begin(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("iterate: converge: %w", err)
	}
	for first := true; ; first = false {
		if err := c.project(ctx); err != nil {
			return nil, fmt.Errorf("iterate: converge: %w", err)
		}
		// A random block of nearly as many columns as rows contains eigenvectors, which
		// need not be the leading ones before a filter has made those grow.
		whole := c.blocks.m == c.walk.rows-1
		done := c.report() && (whole || !first)
		if degree := c.chooseFilter(); !done && c.walk.products+degree <= s.MaxProducts {
			if err := c.filter(ctx, degree); err != nil {
				return nil, fmt.Errorf("iterate: converge: %w", err)
			}
			continue
		}
		out := c.result()
		if done {
			out.Status = iterate.Converged
		}
		return out, nil
	}
}

const (
	guardColumns   = 8    // columns beyond the wanted ones: they settle last
	highestDegree  = 20   // of the filter
	mostGrowth     = 1e3  // of one direction relative to another in one filter: float32 must still hold both
	leastGrowth    = 4    // of the last wanted direction relative to those to be damped
	bestCondition  = 1e-3 // of the block, good enough for a projection
	worstCondition = 1e-6 // below this a direction is only rounding errors
)

// convergence is the state of a run.
type convergence struct {
	settings ConvergeSettings
	walk     *walk
	blocks   *blocks
	random   *rand.PCG
	// y spans the subspace; after a projection its columns are D-orthonormal
	// approximate eigenvectors, and py = P y. spare takes the next of them.
	y, py, spare      blas32.General
	values, residuals []float64
	lo, hi            float64 // eigenvalues to be damped
}

// ConvergeBytes is the memory in bytes that Converge takes for that many columns and classes
// of n rows: four blocks and the result, partial sums, small matrices, rows and classes.
func ConvergeBytes(n, columns, classes int) float64 {
	rows, m := float64(n), float64(columns+guardColumns)
	return 4*rows*(4*m+float64(columns)) + 8*(mostPieces+8)*m*m + 32*rows + float64(classes)*(20*m+64)
}

func newConvergence(op kernel.Operator, step kernel.Step, s ConvergeSettings) (*convergence, error) {
	n := op.N()
	tooMany := func(rows int) error {
		return fmt.Errorf("%w: %d columns of %d rows with neighbours, which have %d eigenvectors besides the constant", kernel.ErrShape, s.Dim, rows, max(rows-1, 0))
	}
	if s.Dim >= n {
		return nil, tooMany(n)
	}
	m, classes := min(s.Dim+guardColumns, n-1), 0
	if step.Labels != nil {
		classes = step.Labels.Classes()
	}
	need := ConvergeBytes(n, s.Dim, classes)
	if need > float64(s.MaxMemory) || s.Reserve != nil && !s.Reserve(int64(need)) {
		return nil, &kernel.MemoryError{What: fmt.Sprintf("eigenvectors of %d x %d", n, m), Need: int64(min(need, math.MaxInt64/2)), Limit: s.MaxMemory}
	}
	w, err := newWalk(op, step, s.Workers)
	if err != nil {
		return nil, err
	}
	if s.Dim > w.rows-1 {
		return nil, tooMany(w.rows)
	}
	m = min(m, w.rows-1)
	if err := checkStart(s.Start, n, m); err != nil {
		return nil, err
	}
	w.reserve(m)
	c := &convergence{settings: s, walk: w, blocks: newBlocks(w, m, s.Kernels), random: rand.NewPCG(1, 2)}
	c.y, c.py, c.spare = newMatrix(n, m), newMatrix(n, m), newMatrix(n, m)
	for j := range m {
		c.refill(j)
	}
	return c, nil
}

// refill makes column j of u = D^(1/2) y random, so that rows of small degree
// count as well.
func (c *convergence) refill(j int) {
	for i, root := range c.walk.root {
		u := float32(c.random.Uint64()>>40)*0x1p-23 - 1
		row(c.y, i)[j] = 0
		if root > 0 {
			row(c.y, i)[j] = u / root
		}
	}
}

// project turns the subspace into approximate eigenvectors (Rayleigh-Ritz): with
// G = y'D y and H = y'D P y it solves H a = lambda G a and sets y to y a.
func (c *convergence) project(ctx context.Context) error {
	basis, err := c.independent(ctx)
	if err != nil {
		return err
	}
	if err := c.walk.mulAdd(ctx, c.py, c.y, 1, 0, 0); err != nil {
		return err
	}
	h, err := c.blocks.gram(ctx, c.y, c.py)
	if err != nil {
		return err
	}
	m := c.blocks.m
	var inner, outer mat.Dense
	inner.Mul(h, basis)
	outer.Mul(basis.T(), &inner)
	values, vectors, err := falling(symmetric(&outer))
	if err != nil {
		return err
	}
	var a mat.Dense
	a.Mul(basis, vectors)
	if err := c.blocks.rotateTo(ctx, c.spare, c.y, &a); err != nil {
		return err
	}
	c.y, c.spare = c.spare, c.y
	if err := c.blocks.rotateTo(ctx, c.spare, c.py, &a); err != nil {
		return err
	}
	c.py, c.spare = c.spare, c.py
	c.values = values[:m]
	c.residuals, err = c.blocks.residuals(ctx, c.py, c.y, c.values)
	return err
}

// independent returns a basis b of the subspace, (y b)'D (y b) = I, after it has
// made y well conditioned: with the eigenvectors V of the Gram matrix of the
// columns at unit length, b = S V Lambda^(-1/2) (Stathopoulos and Wu 2002).
func (c *convergence) independent(ctx context.Context) (*mat.Dense, error) {
	const tries = 8
	m := c.blocks.m
	for range tries {
		if err := c.blocks.centre(ctx, c.y); err != nil {
			return nil, err
		}
		g, err := c.blocks.gram(ctx, c.y, c.y)
		if err != nil {
			return nil, err
		}
		scale := make([]float64, m)
		for j := range m {
			if d := g.At(j, j); d > 0 {
				scale[j] = 1 / math.Sqrt(d)
			}
		}
		for i := range m {
			for j := i; j < m; j++ {
				g.SetSym(i, j, g.At(i, j)*scale[i]*scale[j])
			}
		}
		values, b, err := falling(g)
		if err != nil {
			return nil, err
		}
		least := worstCondition * values[0]
		for i := range m {
			for j := range m {
				b.Set(i, j, b.At(i, j)*scale[i]/math.Sqrt(max(values[j], least)))
			}
		}
		if values[m-1] >= bestCondition*values[0] {
			return b, nil
		}
		if err := c.blocks.rotateTo(ctx, c.spare, c.y, b); err != nil {
			return nil, err
		}
		c.y, c.spare = c.spare, c.y
		for j, v := range values {
			if v <= least {
				c.refill(j)
			}
		}
	}
	return nil, fmt.Errorf("%w: no %d independent directions", iterate.ErrDiverged, m)
}

// report reports a projection, and returns whether all wanted columns have
// converged.
func (c *convergence) report() (done bool) {
	r := ConvergeRecord{Products: c.walk.products}
	for _, e := range c.residuals[:c.settings.Dim] {
		if e <= c.settings.Tolerance {
			r.Converged++
		}
		r.Residual = max(r.Residual, e)
	}
	if c.settings.Progress != nil {
		c.settings.Progress(r)
	}
	return r.Converged == c.settings.Dim
}

// chooseFilter sets the interval that is damped and returns the degree.
//
// Everything below the block's smallest value is damped. Where the last wanted
// direction would then grow too little, as with an eigenvalue repeated more
// often than the block has columns, the interval ends further down: no wanted
// direction is lost, and the others separate more slowly.
func (c *convergence) chooseFilter() (degree int) {
	c.lo, c.hi = -1, c.values[len(c.values)-1]
	wanted := c.values[c.settings.Dim-1]
	// T_q(x) = cosh(q acosh x); x is where the interval is mapped to [-1, 1].
	far := math.Cosh(math.Acosh(leastGrowth) / highestDegree)
	// (wanted - (hi+lo)/2) / ((hi-lo)/2) >= far
	c.hi = min(c.hi, (2*wanted+(far-1)*c.lo)/(far+1))
	c.hi = max(c.hi, c.lo+1e-3)
	x := (1 - (c.hi+c.lo)/2) / ((c.hi - c.lo) / 2)
	return max(1, min(highestDegree, int(math.Acosh(mostGrowth)/math.Acosh(x))))
}

// filter sets y to T(P) y, T the Chebyshev polynomial of the interval, scaled to
// T(1) = 1 (Zhou and Saad 2007). Its first product has already been made.
func (c *convergence) filter(ctx context.Context, degree int) error {
	half, mid := (c.hi-c.lo)/2, (c.hi+c.lo)/2
	first := half / (1 - mid)
	ratio := first
	if err := c.blocks.combine(ctx, c.py, c.y, first/half, -mid*first/half); err != nil {
		return err
	}
	previous, current := c.y, c.py
	for range degree - 1 {
		next := 1 / (2/first - ratio)
		if err := c.walk.mulAdd(ctx, previous, current, 2*next/half, -mid*2*next/half, -ratio*next); err != nil {
			return err
		}
		previous, current, ratio = current, previous, next
	}
	c.y, c.py = current, previous
	return nil
}

// result copies the wanted columns out, in the order of the points.
func (c *convergence) result() *Eigenvectors {
	n, k, order := c.y.Rows, c.settings.Dim, c.walk.op.Order()
	out := &Eigenvectors{
		Points: newMatrix(n, k), Values: c.values[:k], Residuals: c.residuals[:k],
		Products: c.walk.products, Isolated: n - c.walk.rows,
	}
	for _, d := range c.walk.degree {
		out.Mass += d
	}
	factor, largest := make([]float64, k), make([]float32, k)
	for i := range n {
		for j, v := range row(c.y, i)[:k] {
			if v > largest[j] || -v > largest[j] {
				largest[j] = max(v, -v)
				factor[j] = math.Copysign(c.values[j], float64(v))
			}
		}
	}
	for i := range n {
		to := i
		if order != nil {
			to = int(order[i])
		}
		dst, norm := row(out.Points, to), 0.0
		for j, v := range row(c.y, i)[:k] {
			value := factor[j] * float64(v)
			dst[j] = float32(value)
			norm += value * value
		}
		if c.settings.UnitRows && norm > 0 {
			for j, v := range row(c.y, i)[:k] {
				dst[j] = float32(factor[j] * float64(v) / math.Sqrt(norm))
			}
		}
	}
	return out
}

// falling returns the eigenvalues of a symmetric matrix in falling order, and
// its eigenvectors in columns.
func falling(g *mat.SymDense) ([]float64, *mat.Dense, error) {
	m := g.SymmetricDim()
	var e mat.EigenSym
	if !e.Factorize(g, true) {
		return nil, nil, fmt.Errorf("%w: the eigenvalues of a projection do not converge", iterate.ErrDiverged)
	}
	rising := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	values, vectors := make([]float64, m), mat.NewDense(m, m, nil)
	for j := range m {
		values[j] = rising[m-1-j]
		for i := range m {
			vectors.Set(i, j, v.At(i, m-1-j))
		}
	}
	return values, vectors, nil
}

func symmetric(a *mat.Dense) *mat.SymDense {
	m, _ := a.Dims()
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}
