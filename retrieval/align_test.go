package retrieval_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval"
)

func random(rng *rand.Rand, n, k int) *mat.Dense {
	x := mat.NewDense(n, k, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	return x
}

// orthogonal returns a random orthogonal matrix with the given determinant.
func orthogonal(rng *rand.Rand, k int, det float64) *mat.Dense {
	var qr mat.QR
	qr.Factorize(random(rng, k, k))
	var q mat.Dense
	qr.QTo(&q)
	if mat.Det(&q)*det < 0 {
		for i := range k {
			q.Set(i, 0, -q.At(i, 0))
		}
	}
	return &q
}

// moved returns scale x rotation + shift.
func moved(x *mat.Dense, scale float64, rotation mat.Matrix, shift []float64) *mat.Dense {
	var out mat.Dense
	out.Mul(x, rotation)
	out.Apply(func(_, j int, v float64) float64 { return scale*v + shift[j] }, &out)
	return &out
}

func flat(x *mat.Dense, columns int) *mat.Dense {
	n, k := x.Dims()
	out := mat.NewDense(n, k, nil)
	out.Slice(0, n, 0, columns).(*mat.Dense).Copy(x)
	return out
}

func TestAlignRecoversASimilarity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name        string
		n, k, rank  int
		det, scale  float64
		reflections retrieval.Reflections
	}{
		{"line", 5, 1, 1, 1, 3, retrieval.Proper},
		{"plane", 40, 2, 2, 1, 0.25, retrieval.Proper},
		{"space", 40, 3, 3, 1, 1e-9, retrieval.Proper},
		{"many dimensions", 400, 16, 16, 1, 1e9, retrieval.Proper},
		{"plane, mirrored", 40, 2, 2, -1, 0.25, retrieval.WithMirrored},
		{"space, mirrored", 40, 3, 3, -1, 2, retrieval.WithMirrored},
		{"line, mirrored", 40, 1, 1, -1, 2, retrieval.WithMirrored},
		{"mirrors allowed, none needed", 40, 3, 3, 1, 2, retrieval.WithMirrored},
		{"collinear in the plane", 40, 2, 1, 1, 2, retrieval.Proper},
		{"two anchors in the plane", 2, 2, 2, 1, 2, retrieval.Proper},
		{"coplanar in space", 40, 3, 2, 1, 2, retrieval.Proper},
		{"as many anchors as dimensions", 3, 3, 3, 1, 2, retrieval.Proper},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := flat(random(rng, c.n, c.k), c.rank)
			rotation := orthogonal(rng, c.k, c.det)
			shift := random(rng, 1, c.k).RawRowView(0)
			to := moved(from, c.scale, rotation, shift)
			s, err := retrieval.Align(from.RawMatrix(), to.RawMatrix(), c.reflections)
			if err != nil {
				t.Fatal(err)
			}
			// The shift costs digits where the scale is small against it.
			tolerance := 1e-12 * (1 + 1e-3/c.scale)
			if e := math.Abs(s.Scale/c.scale - 1); e > tolerance {
				t.Errorf("scale %v, want %v", s.Scale, c.scale)
			}
			if !mat.EqualApprox(s.Rotation, rotation, tolerance) {
				t.Errorf("rotation\n%v, want\n%v", mat.Formatted(s.Rotation), mat.Formatted(rotation))
			}
			fresh := random(rng, 7, c.k)
			var got mat.Dense
			got.SetRawMatrix(s.Apply(fresh.RawMatrix()))
			if want := moved(fresh, c.scale, rotation, shift); !mat.EqualApprox(&got, want, 1e-12*(1+c.scale)) {
				t.Errorf("other points are\n%v, want\n%v", mat.Formatted(&got), mat.Formatted(want))
			}
		})
	}
}

// Of noisy anchors the alignment is the best there is: no small change of it
// brings them nearer.
func TestAlignIsLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, det := range []float64{1, -1} { // -1: the determinant rule at work
		from := random(rng, 30, 3)
		to := moved(from, 2, orthogonal(rng, 3, det), []float64{1, 2, 3})
		to.Add(to, random(rng, 30, 3))
		s, err := retrieval.Align(from.RawMatrix(), to.RawMatrix(), retrieval.Proper)
		if err != nil {
			t.Fatal(err)
		}
		if d := mat.Det(s.Rotation); math.Abs(d-1) > 1e-12 {
			t.Errorf("determinant %v", d)
		}
		cost := func(scale float64, rotation mat.Matrix, shift []float64) float64 {
			e := moved(from, scale, rotation, shift)
			e.Sub(e, to)
			return mat.Norm(e, 2)
		}
		best := cost(s.Scale, s.Rotation, s.Translation)
		for range 200 {
			var turn, rotation mat.Dense
			a := random(rng, 3, 3)
			turn.Sub(a, a.T())
			turn.Scale(1e-3, &turn)
			turn.Exp(&turn)
			rotation.Mul(s.Rotation, &turn)
			shift := random(rng, 1, 3).RawRowView(0)
			for j := range shift {
				shift[j] = s.Translation[j] + 1e-3*shift[j]
			}
			if c := cost(s.Scale*(1+1e-3*rng.NormFloat64()), &rotation, shift); c < best {
				t.Fatalf("a change gives %v, below %v", c, best)
			}
		}
	}
}

func TestAlignRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := random(rng, 20, 3)
	same := mat.NewDense(20, 3, nil)
	same.Apply(func(_, j int, _ float64) float64 { return 0.1 * float64(j+1) }, same)
	broken := mat.DenseCopyOf(x)
	broken.Set(3, 1, math.NaN())
	huge := mat.DenseCopyOf(x)
	huge.Scale(1e308, huge)
	line := mat.NewDense(3, 1, []float64{1, 2, 3})
	back := mat.NewDense(3, 1, []float64{3, 2, 1})
	square := mat.NewDense(4, 2, []float64{1, 0, 0, 1, -1, 0, 0, -1})
	mirror := mat.NewDense(4, 2, []float64{1, 0, 0, -1, -1, 0, 0, 1})
	for _, c := range []struct {
		name        string
		from, to    *mat.Dense
		reflections retrieval.Reflections
		want        error
	}{
		{"collinear in space", flat(x, 1), flat(x, 1), retrieval.Proper, retrieval.ErrDegenerate},
		{"collinear there", x, flat(x, 1), retrieval.Proper, retrieval.ErrDegenerate},
		{"coplanar, a mirror allowed", flat(x, 2), flat(x, 2), retrieval.WithMirrored, retrieval.ErrDegenerate},
		{"coincident", same, x, retrieval.Proper, retrieval.ErrDegenerate},
		{"coincident there", x, same, retrieval.Proper, retrieval.ErrDegenerate},
		{"zero", mat.NewDense(20, 3, nil), x, retrieval.Proper, retrieval.ErrDegenerate},
		{"one anchor", random(rng, 1, 2), random(rng, 1, 2), retrieval.Proper, retrieval.ErrDegenerate},
		{"two anchors in space", random(rng, 2, 3), random(rng, 2, 3), retrieval.Proper, retrieval.ErrDegenerate},
		{"a line the wrong way round", line, back, retrieval.Proper, retrieval.ErrDegenerate},
		{"a mirrored square: every rotation is as good", square, mirror, retrieval.Proper, retrieval.ErrDegenerate},
		{"sizes", x, random(rng, 20, 2), retrieval.Proper, points.ErrShape},
		{"numbers", x, random(rng, 19, 3), retrieval.Proper, points.ErrShape},
		{"no number", broken, x, retrieval.Proper, points.ErrNonFinite},
		{"too large", huge, x, retrieval.Proper, points.ErrNonFinite},
	} {
		if s, err := retrieval.Align(c.from.RawMatrix(), c.to.RawMatrix(), c.reflections); !errors.Is(err, c.want) || s != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := retrieval.Align(blas64.General{}, blas64.General{}, retrieval.Proper); !errors.Is(err, points.ErrShape) {
		t.Errorf("nothing: %v", err)
	}
	_, err := retrieval.Align(flat(x, 1).RawMatrix(), flat(x, 1).RawMatrix(), retrieval.Proper)
	if e := new(retrieval.DegenerateError); !errors.As(err, &e) || *e != (retrieval.DegenerateError{Anchors: 20, Dimension: 3, Rank: 1, Need: 2}) {
		t.Errorf("%#v", e)
	}
}
