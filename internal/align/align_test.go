package align_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/align"
	"github.com/seed-64e14a55/privatemail/kernel"
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

func TestRowsRecoversASimilarity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name       string
		n, k, rank int
		det, scale float64
	}{
		{"line", 5, 1, 1, 1, 3},
		{"plane", 40, 2, 2, 1, 0.25},
		{"space", 40, 3, 3, 1, 1e-9},
		{"many dimensions", 400, 16, 16, 1, 1e9},
		{"collinear in the plane", 40, 2, 1, 1, 2},
		{"two anchors in the plane", 2, 2, 2, 1, 2},
		{"coplanar in space", 40, 3, 2, 1, 2},
		{"as many anchors as dimensions", 3, 3, 3, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := flat(random(rng, c.n, c.k), c.rank)
			rotation := orthogonal(rng, c.k, c.det)
			shift := random(rng, 1, c.k).RawRowView(0)
			to := moved(from, c.scale, rotation, shift)
			s, err := align.Find(from.RawMatrix(), to.RawMatrix())
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
			image, err := s.Apply(fresh.RawMatrix())
			if err != nil {
				t.Fatal(err)
			}
			var got mat.Dense
			got.SetRawMatrix(image)
			if want := moved(fresh, c.scale, rotation, shift); !mat.EqualApprox(&got, want, 1e-12*(1+c.scale)) {
				t.Errorf("other points are\n%v, want\n%v", mat.Formatted(&got), mat.Formatted(want))
			}
		})
	}
}

// Of noisy anchors the alignment is the best there is: no small change of it
// brings them nearer.
func TestRowsIsLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, det := range []float64{1, -1} { // -1: the determinant rule at work
		from := random(rng, 30, 3)
		to := moved(from, 2, orthogonal(rng, 3, det), []float64{1, 2, 3})
		to.Add(to, random(rng, 30, 3))
		s, err := align.Find(from.RawMatrix(), to.RawMatrix())
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

func TestRowsRefuses(t *testing.T) {
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
		name     string
		from, to *mat.Dense
		want     error
	}{
		{"collinear in space", flat(x, 1), flat(x, 1), align.ErrDegenerate},
		{"collinear there", x, flat(x, 1), align.ErrDegenerate},
		{"coincident", same, x, align.ErrDegenerate},
		{"coincident there", x, same, align.ErrDegenerate},
		{"zero", mat.NewDense(20, 3, nil), x, align.ErrDegenerate},
		{"one anchor", random(rng, 1, 2), random(rng, 1, 2), align.ErrDegenerate},
		{"two anchors in space", random(rng, 2, 3), random(rng, 2, 3), align.ErrDegenerate},
		{"a line the wrong way round", line, back, align.ErrDegenerate},
		{"a mirrored square: every rotation is as good", square, mirror, align.ErrDegenerate},
		{"sizes", x, random(rng, 20, 2), kernel.ErrShape},
		{"numbers", x, random(rng, 19, 3), kernel.ErrShape},
		{"no number", broken, x, kernel.ErrNonFinite},
		{"too large", huge, x, kernel.ErrNonFinite},
	} {
		if s, err := align.Find(c.from.RawMatrix(), c.to.RawMatrix()); !errors.Is(err, c.want) || s != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := align.Find(blas64.General{}, blas64.General{}); !errors.Is(err, kernel.ErrShape) {
		t.Errorf("nothing: %v", err)
	}
	_, err := align.Find(flat(x, 1).RawMatrix(), flat(x, 1).RawMatrix())
	if e := new(align.DegenerateError); !errors.As(err, &e) || *e != (align.DegenerateError{Anchors: 20, Dimension: 3, Rank: 1, Need: 2}) {
		t.Errorf("%#v", e)
	}
	// What is wrong here is not a lack of directions.
	_, err = align.Find(square.RawMatrix(), mirror.RawMatrix())
	if err == nil || !strings.Contains(err.Error(), "mirrored") {
		t.Errorf("a mirrored square: %v", err)
	}
}

func TestApplyRefuses(t *testing.T) {
	x := random(rand.New(rand.NewPCG(7, 8)), 20, 3).RawMatrix()
	s, err := align.Find(x, x)
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]blas64.General{
		"nothing":   {},
		"no rows":   {Cols: 3, Stride: 3},
		"dimension": {Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 2}},
		"storage":   {Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 5)},
	} {
		if _, err := s.Apply(rows); !errors.Is(err, kernel.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
