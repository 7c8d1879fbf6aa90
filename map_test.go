package privatemail

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/iterate"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The map of the digits keeps rows of a digit together, though it uses no labels.
func TestMapOfDigits(t *testing.T) {
	x, y := digits.Load()
	m, err := engine(t, WithWorkers(2)).Map(t.Context(), x, &MapSettings{Graph: Graph{Neighbours: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != iterate.Converged || len(m.Values) != 20 || m.Isolated != 0 || !slices.Equal(m.Components, []int{x.Rows}) || m.Graph.Neighbours != 10 || m.Graph.Certificate.Kind != kernel.AsAsked {
		t.Errorf("%v, %d eigenvectors, %d isolated, parts %v, graph %+v", m.Status, len(m.Values), m.Isolated, m.Components, m.Graph.Certificate.Kind)
	}
	right := 0
	for i := range x.Rows {
		nearest, at := math.Inf(1), 0
		for j := range x.Rows {
			a, b := m.Points.At(i, 0)-m.Points.At(j, 0), m.Points.At(i, 1)-m.Points.At(j, 1)
			if d := a*a + b*b; j != i && d < nearest {
				nearest, at = d, j
			}
		}
		if y[at] == y[i] {
			right++
		}
	}
	if share := float64(right) / float64(x.Rows); share < 0.94 {
		t.Errorf("the nearest row has the same digit in %.3f of all rows, want 0.94", share)
	}
}

// Parts that nothing connects are counted, and lie next to each other.
func TestMapOfParts(t *testing.T) {
	x, _ := classes(t, 120, 3)
	for i := range 60 {
		x.Data[i*x.Stride] += 1000
	}
	var want *mat.Dense
	for _, workers := range []int{1, 3} {
		m, err := engine(t, WithWorkers(workers)).Map(t.Context(), x, &MapSettings{Graph: Graph{Neighbours: 10}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Components, []int{60, 60}) {
			t.Fatalf("parts of %v rows", m.Components)
		}
		if want == nil {
			want = m.Points
		} else if !mat.Equal(want, m.Points) {
			t.Errorf("%d workers make other bits", workers)
		}
	}
}

func TestMapRefuses(t *testing.T) {
	x, _ := classes(t, 30, 3)
	e := engine(t)
	for name, c := range map[string]struct {
		x    blas32.General
		s    *MapSettings
		want error
	}{
		"settings":          {x, nil, ErrSettings},
		"no graph":          {x, &MapSettings{}, ErrSettings},
		"two graphs":        {x, &MapSettings{Graph: Graph{Neighbours: 3, MeanNeighbours: 4}}, ErrSettings},
		"cutoff":            {x, &MapSettings{Graph: Graph{Neighbours: 3, CutoffWeight: 0.1}}, ErrSettings},
		"negative":          {x, &MapSettings{Graph: Graph{Neighbours: -3}}, ErrSettings},
		"negative columns":  {x, &MapSettings{Graph: Graph{Neighbours: 3}, Dim: -1}, ErrSettings},
		"columns":           {x, &MapSettings{Graph: Graph{Neighbours: 3}, Dim: 30}, kernel.ErrShape},
		"columns of parts":  {x, &MapSettings{Graph: Graph{Bandwidth: kernel.Sigma(1e-6), CutoffWeight: 0.5}}, kernel.ErrShape},
		"operator":          {x, &MapSettings{Graph: Graph{Neighbours: 3, Operator: "dense"}}, kernel.ErrOperator},
		"rows":              {blas32.General{}, &MapSettings{Graph: Graph{Neighbours: 3}}, kernel.ErrEmpty},
		"as many as it has": {x, &MapSettings{Graph: Graph{Neighbours: math.MaxInt}, Dim: 2}, nil},
	} {
		if _, err := e.Map(t.Context(), c.x, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	p, err := e.PlanMap(t.Context(), x, &MapSettings{Graph: Graph{Neighbours: 3}})
	if err != nil || p.Candidates[0].Name != "csr" || !p.Candidates[0].Feasible || p.Candidates[1].Feasible {
		t.Errorf("%+v, %v", p, err)
	}
}

// Many rows begin with a sample, and the map of a square is a square.
func TestMapOfManyRows(t *testing.T) {
	longtest.Only(t)
	x, err := synth.Uniform(sampledFrom, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := engine(t, WithWorkers(2)).Map(t.Context(), x, &MapSettings{Graph: Graph{Neighbours: 10}})
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(x.Rows, 3, nil)
	b := mat.NewDense(x.Rows, 2, nil)
	for i := range x.Rows {
		a.SetRow(i, []float64{m.Points.At(i, 0), m.Points.At(i, 1), 1})
		b.SetRow(i, []float64{float64(x.Data[2*i]) - 0.5, float64(x.Data[2*i+1]) - 0.5})
	}
	var fit, off mat.Dense
	if err := fit.Solve(a, b); err != nil {
		t.Fatal(err)
	}
	off.Mul(a, &fit)
	off.Sub(&off, b)
	if share := mat.Norm(&off, 2) / mat.Norm(b, 2); m.Status != iterate.Converged || share > 0.2 {
		t.Errorf("%v; a linear map of the columns misses the places by %.2f", m.Status, share)
	}
	if _, err := engine(t, WithMaxMemory(20<<20)).Map(t.Context(), x, &MapSettings{Graph: Graph{Neighbours: 10}}); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("a small limit: %v", err)
	}
}
