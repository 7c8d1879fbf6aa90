package privatemail

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/iterate"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The eigenvectors separate classes that the graph separates: rows of one class
// fall on one place, those of others elsewhere.
func TestConvergeSeparatesClasses(t *testing.T) {
	x, y, err := synth.Classes(300, 32, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	var want *mat.Dense
	for _, workers := range []int{1, 3} {
		e, err := New(WithWorkers(workers))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		out, err := e.Converge(t.Context(), x, y, &ConvergeSettings{Graph: Graph{MeanNeighbours: 20}, Coefficient: 1, Dim: 3})
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != iterate.Converged || len(out.Values) != 3 || out.Values[2] < 0.9 || out.Residuals[0] > 1e-5 || out.Graph.MeanNeighbours < 10 {
			t.Errorf("%v, eigenvalues %.4f, residuals %.1g, %.1f neighbours", out.Status, out.Values, out.Residuals, out.Graph.MeanNeighbours)
		}
		for i := range 300 {
			for j := range i {
				var away mat.VecDense
				away.SubVec(out.Points.RowView(i), out.Points.RowView(j))
				if d := mat.Norm(&away, 2); (d < 0.3) != (y[i] == y[j]) {
					t.Fatalf("rows %d and %d of classes %d and %d are %g apart", i, j, y[i], y[j], d)
				}
			}
		}
		if want == nil {
			want = out.Points
		} else if !mat.Equal(want, out.Points) {
			t.Errorf("%d workers make other bits", workers)
		}
	}
}

func TestConvergeRefuses(t *testing.T) {
	x, y, err := synth.Classes(50, 8, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(WithWorkers(1), WithMaxMemory(10<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		labels []int32
		s      *ConvergeSettings
		want   error
	}{
		{"settings", y, nil, ErrSettings},
		{"negative", y, &ConvergeSettings{Graph: Graph{MeanNeighbours: 5}, Dim: -1}, ErrSettings},
		{"columns", y, &ConvergeSettings{Graph: Graph{MeanNeighbours: 5}, Dim: 50}, kernel.ErrShape},
		{"labels", y[1:], &ConvergeSettings{Graph: Graph{MeanNeighbours: 5}, Coefficient: 1}, kernel.ErrLabels},
		{"labels missing", nil, &ConvergeSettings{Graph: Graph{MeanNeighbours: 5}, Coefficient: 1}, kernel.ErrLabels},
		{"tolerance", y, &ConvergeSettings{Graph: Graph{MeanNeighbours: 5}, StopTolerance: math.NaN()}, ErrSettings},
	} {
		if _, err := e.Converge(t.Context(), x, c.labels, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	e.Close()
	if _, err := e.Converge(t.Context(), x, y, &ConvergeSettings{Graph: Graph{MeanNeighbours: 5}}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The operator is chosen for the many products of Converge, not for the one step of
// form Attract.
func TestConvergePlansForManyProducts(t *testing.T) {
	x, y := classes(t, 600, 16)
	e := engine(t)
	b := kernel.Sigma(0.25)
	p, err := e.Plan(t.Context(), x, &Settings{Graph: Graph{Bandwidth: b}, Dim: 4, Steps: plannedProducts})
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Converge(t.Context(), x, y, &ConvergeSettings{Graph: Graph{Bandwidth: b}, Coefficient: 1, Dim: 4})
	if err != nil {
		t.Fatal(err)
	}
	if out.Graph.Operator != p.Candidates[0].Name {
		t.Errorf("%s for %d products, where %s is quicker", out.Graph.Operator, out.Products, p.Candidates[0].Name)
	}
}

// A row without neighbours is counted, so that its zeros are not taken for a place.
func TestConvergeCountsIsolatedRows(t *testing.T) {
	x, _ := classes(t, 60, 4)
	for _, row := range []int{7, 31} {
		x.Data[row*x.Stride] = float32(1000 * (row + 1))
	}
	out, err := engine(t).Converge(t.Context(), x, nil, &ConvergeSettings{Graph: Graph{Bandwidth: kernel.Sigma(1), CutoffWeight: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	if zeros := mat.Norm(out.Points.RowView(7), 2) + mat.Norm(out.Points.RowView(31), 2); out.Isolated != 2 || zeros != 0 {
		t.Errorf("%d isolated rows, want 2; their norms add up to %g", out.Isolated, zeros)
	}
}
