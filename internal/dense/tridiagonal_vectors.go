package dense

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/random"
)

// apart is the distance of eigenvalues, as a part of the largest, above which inverse
// iteration gives orthogonal vectors without further work: their products are then at
// most 1e-11.
const apart = 1e-4

// vectors returns eigenvectors of the tridiagonal matrix for some of its eigenvalues, which
// descend: one vector per row. ok is false if one did not converge.
//
// Each begins at random and is multiplied by the inverse of T - value (Golub and Van
// Loan, section 8.2.2). Each time, vectors of close eigenvalues are made orthogonal to
// those before them.
func (t *tridiagonal) vectors(ctx context.Context, values []float64) (z []float64, ok bool, err error) {
	size := t.size()
	z = make([]float64, len(values)*t.d)
	var starts []int
	for i := range values {
		if i == 0 || values[i-1]-values[i] > apart*size {
			starts = append(starts, i)
		}
	}
	good := make([]bool, len(starts))
	starts = append(starts, len(values))
	err = t.do(ctx, len(good), func(_, piece int) {
		good[piece] = t.cluster(ctx, values, z, starts[piece], starts[piece+1], size)
	})
	ok = true
	for _, g := range good {
		ok = ok && g
	}
	return z, ok, err
}

// size returns a bound of the magnitude of the eigenvalues, by Gershgorin circles.
func (t *tridiagonal) size() float64 {
	most := 0.0
	for i, v := range t.diagonal {
		sum := math.Abs(v)
		if i > 0 {
			sum += math.Abs(t.off[i-1])
		}
		if i < len(t.off) {
			sum += math.Abs(t.off[i])
		}
		most = max(most, sum)
	}
	return most
}

// cluster computes the vectors first to last-1 of z. It stops when the context ends.
func (t *tridiagonal) cluster(ctx context.Context, values, z []float64, first, last int, size float64) bool {
	solver := newSolver(t.d)
	words := random.NewSplitMix64(uint64(first) + 1)
	for i := first; i < last; i++ {
		if ctx.Err() != nil {
			return false
		}
		x := z[i*t.d:][:t.d]
		for j := range x {
			x[j] = float64(words.Uint64()>>11)*0x1p-52 - 1
		}
		solver.factor(t, values[i], size)
		const most = 8
		for try := 0; ; try++ {
			if try == most {
				return false
			}
			solver.solve(x)
			normalize(x)
			for range 2 {
				for other := first; other < i; other++ {
					y := z[other*t.d:][:t.d]
					blas64.Axpy(-dot(x, y), vector(y), vector(x))
				}
			}
			normalize(x)
			if try > 0 && t.residual(values[i], x) <= 8*0x1p-52*float64(t.d)*size {
				break
			}
		}
	}
	return true
}

func normalize(x []float64) {
	// Nrm2 does not overflow for a huge vector.
	if norm := blas64.Nrm2(vector(x)); norm > 0 {
		blas64.Scal(1/norm, vector(x))
	}
}

// residual returns the length of T x - value x.
func (t *tridiagonal) residual(value float64, x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		r := (t.diagonal[i] - value) * v
		if i > 0 {
			r += t.off[i-1] * x[i-1]
		}
		if i < len(t.off) {
			r += t.off[i] * x[i+1]
		}
		sum += r * r
	}
	return math.Sqrt(sum)
}

// A solver solves (T - value) x = b by elimination with row exchanges. Row i of the upper
// triangle has up to three numbers.
type solver struct {
	main, next, third []float64
	factorOf          []float64
	swapped           []bool
}

func newSolver(d int) *solver {
	return &solver{make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d), make([]bool, d)}
}

// factor prepares the solver. Pivots that vanish, as expected at an eigenvalue, become
// about a rounding error of T.
func (s *solver) factor(t *tridiagonal, value, size float64) {
	d := t.d
	tiny := max(0x1p-52*size, 0x1p-1000)
	clear(s.third)
	main, next := t.diagonal[0]-value, 0.0
	if d > 1 {
		next = t.off[0]
	}
	for i := range d - 1 {
		below, belowMain, belowNext := t.off[i], t.diagonal[i+1]-value, 0.0
		if i+1 < d-1 {
			belowNext = t.off[i+1]
		}
		if s.swapped[i] = math.Abs(below) > math.Abs(main); s.swapped[i] {
			f := main / below
			s.main[i], s.next[i], s.third[i], s.factorOf[i] = below, belowMain, belowNext, f
			main, next = next-f*belowMain, -f*belowNext
			continue
		}
		if math.Abs(main) < tiny {
			main = tiny
		}
		f := below / main
		s.main[i], s.next[i], s.factorOf[i] = main, next, f
		main, next = belowMain-f*next, belowNext
	}
	if math.Abs(main) < tiny {
		main = tiny
	}
	s.main[d-1], s.next[d-1] = main, 0
}

// solve replaces b by the solution, times a factor where it would overflow.
func (s *solver) solve(b []float64) {
	d := len(b)
	for i := range d - 1 {
		if s.swapped[i] {
			b[i], b[i+1] = b[i+1], b[i]
		}
		b[i+1] -= s.factorOf[i] * b[i]
	}
	for i := d - 1; i >= 0; i-- {
		sum := b[i]
		if i+1 < d {
			sum -= s.next[i] * b[i+1]
		}
		if i+2 < d {
			sum -= s.third[i] * b[i+2]
		}
		b[i] = sum / s.main[i]
		if math.Abs(b[i]) > 0x1p400 {
			blas64.Scal(0x1p-400, vector(b))
		}
	}
}
