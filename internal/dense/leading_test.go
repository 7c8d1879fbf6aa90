package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
)

// withValues returns a matrix with the given eigenvalues, rotated at random.
func withValues(rng *rand.Rand, values []float64) *mat.SymDense {
	d := len(values)
	g := mat.NewDense(d, d, nil)
	g.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, g)
	var qr mat.QR
	qr.Factorize(g)
	var q, half, full mat.Dense
	qr.QTo(&q)
	half.Apply(func(_, j int, v float64) float64 { return v * values[j] }, &q)
	full.Mul(&half, q.T())
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, full.At(i, j))
		}
	}
	return s
}

// spectra are difficult lists of eigenvalues: equal ones, a low rank, values of very
// different size, and values close to each other.
func spectra(d int) map[string][]float64 {
	out := map[string][]float64{}
	for name, f := range map[string]func(i float64) float64{
		"falling":   func(i float64) float64 { return 1 / (1 + i) },
		"geometric": func(i float64) float64 { return math.Pow(0.5, i) },
		"equal":     func(i float64) float64 { return 3 },
		"zero":      func(i float64) float64 { return 0 },
		"low rank":  func(i float64) float64 { return max(0, 5-i) },
		"pairs":     func(i float64) float64 { return math.Floor(i/2) + 1 },
		"close":     func(i float64) float64 { return 1 + 1e-13*i },
		"near":      func(i float64) float64 { return 1 + 1e-6*i },
		"huge":      func(i float64) float64 { return 1e200 * (1 + i) },
		"tiny":      func(i float64) float64 { return 1e-200 / (1 + i) },
		"signs":     func(i float64) float64 { return math.Cos(i) },
	} {
		for i := range d {
			out[name] = append(out[name], f(float64(i)))
		}
	}
	return out
}

// The stated bounds of residuals and orthogonality hold, and the eigenvalues are right,
// for difficult spectra. The bits are the same for any number of workers.
func TestLeading(t *testing.T) {
	for _, d := range []int{1, 2, small, small + 1, 65, 97, 200} {
		for name, values := range spectra(d) {
			t.Run(fmt.Sprintf("d=%d/%s", d, name), func(t *testing.T) {
				s := withValues(rand.New(rand.NewPCG(uint64(d), 3)), values)
				slices.Sort(values)
				slices.Reverse(values)
				for _, m := range []int{1, (d + 1) / 2, d} {
					got, vectors, err := (&Core{}).Leading(t.Context(), s, m)
					if err != nil {
						t.Fatal(err)
					}
					checkLeading(t, s, values, got, vectors)
				}
			})
		}
	}
}

func checkLeading(t *testing.T, s *mat.SymDense, want, got []float64, vectors *mat.Dense) {
	t.Helper()
	d, m := vectors.Dims()
	size := max(math.Abs(want[0]), math.Abs(want[d-1]))
	var product, residual, gram mat.Dense
	product.Mul(s, vectors)
	residual.Apply(func(_, j int, v float64) float64 { return v * got[j] }, vectors)
	residual.Sub(&product, &residual)
	gram.Mul(vectors.T(), vectors)
	for j := range m {
		if math.Abs(got[j]-want[j]) > 1e-12*size {
			t.Errorf("eigenvalue %d is %v, want %v", j, got[j], want[j])
		}
		sum, largest := 0.0, 0.0
		for i := range d {
			if size > 0 {
				sum += math.Pow(residual.At(i, j)/size, 2)
			}
			if v := vectors.At(i, j); math.Abs(v) > math.Abs(largest)*(1+1e-8) {
				largest = v
			}
		}
		if !(math.Sqrt(sum) <= 1e-11) || largest < 0 {
			t.Errorf("vector %d: residual %g, largest entry %g", j, math.Sqrt(sum), largest)
		}
		gram.Set(j, j, gram.At(j, j)-1)
	}
	if off := mat.Max(&gram) - mat.Min(&gram); !(off <= 1e-9) {
		t.Errorf("V'V is off by %g", off)
	}
}

// The fast method converges: the tests above do not use gonum's solver.
func TestLeadingConverges(t *testing.T) {
	for name, values := range spectra(150) {
		s := withValues(rand.New(rand.NewPCG(5, 3)), values)
		a, _, err := scaled(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok, err := (&Core{}).byReduction(t.Context(), a, 150, 80); !ok || err != nil {
			t.Errorf("%s: did not converge: %v", name, err)
		}
	}
}

func TestLeadingWorkers(t *testing.T) {
	s := definite(rand.New(rand.NewPCG(1, 8)), 190)
	want, vectors, err := (&Core{}).Leading(t.Context(), s, 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{2, 3} {
		workers := par.New(count)
		last := 0
		core := &Core{Workers: workers, Progress: func(done, total int) { last = done * 100 / total }}
		got, other, err := core.Leading(t.Context(), s, 40)
		workers.Close()
		if err != nil || !slices.Equal(got, want) || !mat.Equal(vectors, other) || last != 100 {
			t.Errorf("%d workers: error %v, other bits, or progress that ends at %d percent", count, err, last)
		}
	}
}

// The matrix is already diagonal or tridiagonal.
func TestLeadingOfSparse(t *testing.T) {
	for _, off := range []float64{0, 1} {
		const d = 130
		s := mat.NewSymDense(d, nil)
		want := make([]float64, d)
		for i := range d {
			s.SetSym(i, i, float64(i%10))
			if i > 0 {
				s.SetSym(i-1, i, off)
			}
		}
		var e mat.EigenSym
		e.Factorize(s, false)
		copy(want, e.Values(nil))
		slices.Reverse(want)
		got, vectors, err := (&Core{}).Leading(t.Context(), s, d/2)
		if err != nil {
			t.Fatal(err)
		}
		checkLeading(t, s, want, got, vectors)
	}
}

func TestLeadingErrors(t *testing.T) {
	core := &Core{}
	s := mat.NewSymDense(60, nil)
	for _, m := range []int{-1, 0, 61} {
		if _, _, err := core.Leading(t.Context(), s, m); !errors.Is(err, points.ErrShape) {
			t.Errorf("m=%d: %v", m, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := core.Leading(ctx, s, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.SetSym(3, 4, math.Inf(1))
	if _, _, err := core.Leading(t.Context(), s, 3); !errors.Is(err, points.ErrNonFinite) {
		t.Errorf("infinity: %v", err)
	}
}
