package privatemail

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// The graph is the one of Embed: the same number of neighbours, and weights of the
// rows in the given order.
func TestNeighbourGraph(t *testing.T) {
	x, _ := classes(t, 200, 5)
	e := engine(t)
	s := &Settings{Graph: Graph{MeanNeighbours: 10}}
	g, err := e.NeighbourGraph(t.Context(), x, &s.Graph)
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Embed(t.Context(), x, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if g.Graph.MeanNeighbours != m.Graph.MeanNeighbours || g.Graph.Radius != m.Graph.Radius || g.Graph.Operator != "csr" {
		t.Errorf("%+v, that of Embed is %+v", g.Graph, m.Graph)
	}
	if mean := float64(g.Weights.NNZ()) / float64(x.Rows); math.Abs(mean-g.Graph.MeanNeighbours) > 1e-9 || !g.Weights.IsSymmetric() {
		t.Errorf("%g weights a row, %g neighbours", mean, g.Graph.MeanNeighbours)
	}
	ind, val := g.Weights.Row(7, nil)
	for e, j := range ind {
		d2 := 0.0
		for c := range x.Cols {
			diff := float64(x.Data[7*x.Stride+c]) - float64(x.Data[int(j)*x.Stride+c])
			d2 += diff * diff
		}
		if want := g.Graph.Bandwidth.Weight(d2); math.Abs(float64(val[e])-want) > 1e-6*want {
			t.Errorf("weight of rows 7 and %d: %g, want %g", j, val[e], want)
		}
	}
}

func TestNeighbourGraphRefusals(t *testing.T) {
	x, _ := classes(t, 20, 3)
	for _, operator := range []string{"dense", "poly", "background", "grid"} {
		if _, err := engine(t).NeighbourGraph(t.Context(), x, &Graph{Bandwidth: kernel.Sigma(1), Operator: operator}); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", operator, err)
		}
	}
	if _, err := engine(t, WithMaxMemory(4000)).NeighbourGraph(t.Context(), x, &Graph{Bandwidth: kernel.Sigma(1)}); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("4000 bytes: %v", err)
	}
}
