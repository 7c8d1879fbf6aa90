package pca

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// Points m + a e + b f are on a plane in five dimensions, with a spread of 3 for a and
// 1 for b: e and f are found in that order, nothing is left over, and projecting
// returns a and b.
func TestPCARecoversPlane(t *testing.T) {
	e := []float64{0.5, 0.5, 0.5, 0, -0.5}
	f := []float64{0.5, -0.5, 0, math.Sqrt(0.5), 0}
	shift := []float64{10, -20, 30, 0, 5}
	// Four corners, so mean zero, no correlation, variances 4*9/3 and 4*1/3.
	ab := [][2]float64{{3, 1}, {3, -1}, {-3, 1}, {-3, -1}}
	x := blas64.General{Cols: 5, Stride: 5}
	for range 2 { // twice, so that n >= d takes the covariance
		for _, p := range ab {
			for j := range 5 {
				x.Data = append(x.Data, shift[j]+p[0]*e[j]+p[1]*f[j])
			}
			x.Rows++
		}
	}
	for _, n := range []int{4, 8} {
		x.Rows = n
		c, err := Fit(x, 3)
		if err != nil {
			t.Fatal(err)
		}
		scale := float64(n) / float64(n-1)
		for k, want := range []float64{9 * scale, scale, 0} {
			if math.Abs(c.Variances[k]-want) > 1e-12 {
				t.Errorf("n=%d: variance %d is %v, want %v", n, k, c.Variances[k], want)
			}
		}
		for j := range 5 {
			if math.Abs(c.Mean[j]-shift[j]) > 1e-13 {
				t.Errorf("n=%d: mean %d is %v", n, j, c.Mean[j])
			}
			// Signs: the first of the largest entries of e is positive, and
			// sqrt(1/2) of f.
			if math.Abs(c.Vectors.At(j, 0)-e[j]) > 1e-12 || math.Abs(c.Vectors.At(j, 1)-f[j]) > 1e-12 {
				t.Errorf("n=%d: row %d of the components %v", n, j, c.Vectors.RawRowView(j))
			}
		}
		y, err := Project(c, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			p := ab[i%4]
			if math.Abs(y.At(i, 0)-p[0]) > 1e-12 || math.Abs(y.At(i, 1)-p[1]) > 1e-12 || math.Abs(y.At(i, 2)) > 1e-12 {
				t.Errorf("n=%d: row %d projects to %v", n, i, y.RawRowView(i))
			}
		}
	}
}

func TestPCAIsOrthonormal(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, d, m int
	}{
		{"one point", 1, 3, 3},
		{"one dimension", 5, 1, 1},
		{"square", 20, 20, 20},
		{"covariance", 700, 30, 30}, // more than one block of rows
		{"covariance, some", 300, 30, 4},
		{"more dimensions", 10, 40, 10},
		{"beyond the rank", 10, 40, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := synth.Clustered(c.n, c.d, 5)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Fit(x, c.m)
			if err != nil {
				t.Fatal(err)
			}
			if r, k := p.Vectors.Dims(); r != c.d || k != c.m || len(p.Variances) != c.m {
				t.Fatalf("%d x %d, %d variances", r, k, len(p.Variances))
			}
			var gram mat.Dense
			gram.Mul(p.Vectors.T(), p.Vectors)
			for i := range c.m {
				gram.Set(i, i, gram.At(i, i)-1)
				if v := p.Variances[i]; v < 0 || i > 0 && v > p.Variances[i-1] {
					t.Errorf("variance %d is %v after %v", i, v, p.Variances[max(i-1, 0)])
				}
			}
			if off := mat.Norm(&gram, math.Inf(1)); off > 1e-12 {
				t.Errorf("V'V differs from 1 by %v", off)
			}
			// Columns of the projection have the variances of the components.
			y, err := Project(p, x)
			if err != nil {
				t.Fatal(err)
			}
			for k := range c.m {
				if c.n < 2 {
					break
				}
				if v := stat.Variance(mat.Col(nil, k, y), nil); math.Abs(v-p.Variances[k]) > 1e-12*p.Variances[0] {
					t.Errorf("column %d has variance %v, want %v", k, v, p.Variances[k])
				}
			}
		})
	}
}

// gonum's stat.PC uses the singular values of the centred matrix, unlike Fit for d <=
// n.
func TestPCAAgainstGonum(t *testing.T) {
	for _, c := range []struct{ n, d int }{{60, 7}, {7, 7}, {6, 9}} {
		rng := rand.New(rand.NewPCG(1, 2))
		x := mat.NewDense(c.n, c.d, nil)
		for i := range c.n {
			for j := range c.d {
				x.Set(i, j, 100+rng.NormFloat64()/float64(1+j))
			}
		}
		m := min(c.n-1, c.d)
		got, err := Fit(x.RawMatrix(), m)
		if err != nil {
			t.Fatal(err)
		}
		var pc stat.PC
		if !pc.PrincipalComponents(x, nil) {
			t.Fatal("reference failed")
		}
		var vectors mat.Dense
		pc.VectorsTo(&vectors)
		variances := pc.VarsTo(nil)
		for k := range m {
			if math.Abs(got.Variances[k]-variances[k]) > 1e-12*variances[0] {
				t.Errorf("%d x %d: variance %d is %v, reference %v", c.n, c.d, k, got.Variances[k], variances[k])
			}
			// Equal up to the sign: the inner product of unit vectors is +-1.
			if p := mat.Dot(got.Vectors.ColView(k), vectors.ColView(k)); math.Abs(math.Abs(p)-1) > 1e-10 {
				t.Errorf("%d x %d: direction %d, inner product %v", c.n, c.d, k, p)
			}
			largest := 0.0
			for j := range c.d {
				if v := got.Vectors.At(j, k); math.Abs(v) > math.Abs(largest) {
					largest = v
				}
			}
			if largest <= 0 {
				t.Errorf("%d x %d: direction %d has largest entry %v", c.n, c.d, k, largest)
			}
		}
	}
}

// The numbers are the same with padding after rows, and in float32 or float64 storage.
func TestPCAReadsBothStorages(t *testing.T) {
	x, err := synth.Uniform(30, 4, 9)
	if err != nil {
		t.Fatal(err)
	}
	wide := blas64.General{Rows: 30, Cols: 4, Stride: 6, Data: make([]float64, 30*6)}
	for i := range wide.Data {
		wide.Data[i] = math.NaN()
	}
	for i := range 30 {
		for j := range 4 {
			wide.Data[6*i+j] = float64(x.Data[4*i+j])
		}
	}
	a, errA := Fit(x, 4)
	b, errB := Fit(wide, 4)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if !mat.Equal(a.Vectors, b.Vectors) {
		t.Error("components differ between storages")
	}
}

func TestPCAErrors(t *testing.T) {
	x := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	for _, m := range []int{-1, 0, 3} {
		if _, err := Fit(x, m); !errors.Is(err, points.ErrShape) {
			t.Errorf("m=%d: error %v", m, err)
		}
	}
	if _, err := Fit(blas32.General{Rows: 0, Cols: 2, Stride: 2}, 1); !errors.Is(err, points.ErrShape) {
		t.Errorf("empty: error %v", err)
	}
	c, err := Fit(x, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Project(c, blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float32, 3)}); !errors.Is(err, points.ErrShape) {
		t.Errorf("wrong dimension: error %v", err)
	}
	x.Data[3] = float32(math.Inf(1))
	var entry *points.NonFiniteError
	if _, err := Fit(x, 1); !errors.As(err, &entry) || *entry != (points.NonFiniteError{What: "points", Row: 1, Col: 1}) {
		t.Errorf("infinity: error %v", err)
	}
}
