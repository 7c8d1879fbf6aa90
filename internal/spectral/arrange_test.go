package spectral

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// vectorsOf returns eigenvectors of the self-tuned graph of points.
func vectorsOf(t *testing.T, p blas32.General, columns int, workers *par.Workers) *Eigenvectors {
	t.Helper()
	op, err := kernel.Build(t.Context(), p, kernel.Gamma(1), &kernel.Options{Neighbours: 10, SelfTuned: true, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	e, err := Converge(t.Context(), op, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: columns, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// roll returns a sheet, 4 by 1, rolled up in three dimensions, and the place of each row on
// it.
func roll(n int) (p blas32.General, along []float64) {
	rng := rand.New(rand.NewPCG(8, 8))
	p = blas32.General{Rows: n, Cols: 3, Stride: 3}
	for range n {
		s := rng.Float64()
		angle := 4.5 + 9.5*s
		along = append(along, s)
		p.Data = append(p.Data, float32(angle*math.Cos(angle)), float32(21*rng.Float64()), float32(angle*math.Sin(angle)))
	}
	return p, along
}

// A rolled-up sheet lies flat in the map: one direction is along the sheet, one across. The
// first two eigenvectors are functions of each other.
func TestArrangeUnrolls(t *testing.T) {
	p, along := roll(1200)
	var want []float32
	for _, count := range []int{1, 3} {
		workers := par.New(count)
		e := vectorsOf(t, p, 20, workers)
		got, err := Arrange(t.Context(), e, &ArrangeSettings{Dim: 2, Workers: workers})
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		across := make([]float64, p.Rows)
		for i := range across {
			across[i] = float64(p.Data[3*i+1])
		}
		if a, b := explained(got.Points, along), explained(got.Points, across); a < 0.9 || b < 0.8 {
			t.Errorf("the map explains %.2f of the way along the sheet and %.2f of that across", a, b)
		}
		first := e.Points
		first.Cols = 2
		if b := explained(first, across); b > 0.2 {
			t.Errorf("the first two eigenvectors explain %.2f of the way across: the case is too easy", b)
		}
		if want == nil {
			want = got.Points.Data
		} else if !slices.Equal(want, got.Points.Data) {
			t.Errorf("%d workers make other bits", count)
		}
	}
}

// explained returns the share of the variance of y that a linear map of two columns
// explains.
func explained(x blas32.General, y []float64) float64 {
	var n, sx, sz, sy, xx, xz, zz, xy, zy, yy float64
	for i, v := range y {
		a, b := float64(row(x, i)[0]), float64(row(x, i)[1])
		n, sx, sz, sy = n+1, sx+a, sz+b, sy+v
		xx, xz, zz, xy, zy, yy = xx+a*a, xz+a*b, zz+b*b, xy+a*v, zy+b*v, yy+v*v
	}
	xx, xz, zz, xy, zy, yy = xx-sx*sx/n, xz-sx*sz/n, zz-sz*sz/n, xy-sx*sy/n, zy-sz*sy/n, yy-sy*sy/n
	det := xx*zz - xz*xz
	p, q := (zz*xy-xz*zy)/det, (xx*zy-xz*xy)/det
	return (p*xy + q*zy) / yy
}

// The gradient belongs to the energy, and the energy agrees with its
// definition.
func TestArrangeEnergy(t *testing.T) {
	p, _ := roll(150)
	e := vectorsOf(t, p, 7, nil)
	a := newArranging(e, &ArrangeSettings{Dim: 3})
	a.ref = a.mu[3]
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range a.coef {
		a.coef[i] = rng.NormFloat64()
	}
	gradient, ignored := make([]float64, len(a.coef)), make([]float64, len(a.coef))
	value, err := a.energy(t.Context(), gradient)
	if err != nil {
		t.Fatal(err)
	}
	if want := plainEnergy(a, e); math.Abs(value-want) > 1e-9*math.Abs(want) {
		t.Errorf("energy %g, want %g", value, want)
	}
	for i := range a.coef {
		const h = 1e-5
		kept := a.coef[i]
		a.coef[i] = kept + h
		up, _ := a.energy(t.Context(), ignored)
		a.coef[i] = kept - h
		down, _ := a.energy(t.Context(), ignored)
		a.coef[i] = kept
		if slope := (up - down) / (2 * h); math.Abs(slope-gradient[i]) > 1e-5*(1+math.Abs(slope)) {
			t.Errorf("number %d of the gradient is %g, want %g", i, gradient[i], slope)
		}
	}
}

// plainEnergy is E where all rows are landmarks.
func plainEnergy(a *arranging, e *Eigenvectors) float64 {
	n := e.Points.Rows
	y := make([][]float64, n)
	for i := range y {
		y[i] = make([]float64, a.k)
		for j, v := range row(e.Points, i) {
			for c := range y[i] {
				y[i][c] += float64(v) * math.Sqrt(e.Mass) / e.Values[j] * a.coef[j*a.k+c]
			}
		}
	}
	sum, value := 0.0, 0.0
	for i := range n {
		for l := range n {
			d2 := 0.0
			for c := range y[i] {
				d2 += (y[i][c] - y[l][c]) * (y[i][c] - y[l][c])
			}
			if i != l {
				sum += 1 / (1 + d2)
			}
		}
	}
	for j, lambda := range e.Values {
		for c := range a.k {
			value += 2 * (1 - lambda) / a.ref * a.coef[j*a.k+c] * a.coef[j*a.k+c]
		}
	}
	return value + math.Log(sum)
}

func TestMinimiseFindsTheMinimum(t *testing.T) {
	// Rosenbrock's valley.
	x := []float64{-1.2, 1}
	err := minimise(x, []float64{1, 1}, 200, func(g []float64) (float64, error) {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		g[0], g[1] = -2*a-400*x[0]*b, 200*b
		return a*a + 100*b*b, nil
	})
	if err != nil || math.Abs(x[0]-1) > 0.05 || math.Abs(x[1]-1) > 0.1 {
		t.Errorf("ends at %g, %v", x, err)
	}
}

func TestAttraction(t *testing.T) {
	if mu := attraction([]float64{1, 1, 0.9, 0.8}, 3); math.Abs(mu[0]-0.02) > 1e-12 || mu[1] != mu[0] || math.Abs(mu[3]-0.2) > 1e-12 {
		t.Errorf("%g", mu)
	}
	if mu := attraction([]float64{1, 1}, 9); mu[0] != 1 || mu[1] != 1 {
		t.Errorf("more parts than eigenvectors: %g", mu)
	}
}

func TestArrangeRefuses(t *testing.T) {
	p, _ := roll(60)
	e := vectorsOf(t, p, 4, nil)
	for _, s := range []*ArrangeSettings{nil, {}, {Dim: 5}, {Dim: 2, Components: -1}} {
		if _, err := Arrange(t.Context(), e, s); !errors.Is(err, kernel.ErrOption) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	short := *e
	short.Values = e.Values[:3]
	none := *e
	none.Points = blas32.General{}
	for _, e := range []*Eigenvectors{&short, &none} {
		if _, err := Arrange(t.Context(), e, &ArrangeSettings{Dim: 2}); !errors.Is(err, kernel.ErrOption) {
			t.Errorf("%d values of %d columns: %v", len(e.Values), e.Points.Cols, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Arrange(ctx, e, &ArrangeSettings{Dim: 2}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
