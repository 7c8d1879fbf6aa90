package privatemail

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// lattice returns the integer points of a cube with the given number of points per edge, some of
// them twice, in random order: many pairs have equal distances.
func lattice(edge, d int) blas32.General {
	rng := rand.New(rand.NewPCG(7, uint64(d)))
	n := int(math.Pow(float64(edge), float64(d)))
	x := blas32.General{Rows: n + n/8, Cols: d, Stride: d + 1, Data: make([]float32, (n+n/8)*(d+1))}
	for at, i := range rng.Perm(x.Rows) {
		i %= n
		for c := range d {
			x.Data[at*x.Stride+c] = float32(i % edge)
			i /= edge
		}
	}
	return x
}

// The pairs of a graph with a radius are those of a brute force in float64, also where many lie
// exactly at the radius, and their weights follow from the bandwidth.
func TestCutoffRadiusEqualsBruteForce(t *testing.T) {
	uniform, err := synth.Uniform(300, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := synth.Clustered(200, 40, 3)
	if err != nil {
		t.Fatal(err)
	}
	cube := lattice(2, 13)
	cube.Rows = 400
	e := engine(t, WithWorkers(2))
	for _, c := range []struct {
		name     string
		x        blas32.General
		radius   float64
		settings Graph
	}{
		{"plane, 1", lattice(15, 2), 1, Graph{}},
		{"plane, root of 2", lattice(15, 2), math.Sqrt2, Graph{}},
		{"plane, below root of 2", lattice(15, 2), math.Nextafter(math.Sqrt2, 0), Graph{}},
		{"plane, 5", lattice(15, 2), 5, Graph{Bandwidth: kernel.Sigma(2)}},
		{"space, root of 3", lattice(6, 3), math.Sqrt(3), Graph{Operator: "pairs"}},
		{"space, 3", lattice(6, 3), 3, Graph{}},
		{"8 dimensions, 2", lattice(2, 8), 2, Graph{}},
		{"13 dimensions, 2", cube, 2, Graph{}},
		{"uniform", uniform, 0.4, Graph{}},
		{"many columns", wide, distance(wide, 3, 4), Graph{}},
		{"a bandwidth of its own", uniform, 0.6, Graph{Bandwidth: kernel.Gamma(3)}},
		{"all", uniform, 100, Graph{Bandwidth: kernel.Sigma(1)}},
	} {
		s := c.settings
		s.CutoffRadius = c.radius
		g, err := e.NeighbourGraph(t.Context(), c.x, &s)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b := s.Bandwidth
		if b == (kernel.Bandwidth{}) {
			b = g.Graph.Bandwidth
			if w := b.Weight(c.radius * c.radius); math.Abs(w-kernel.DegreeCutoff) > 1e-12 {
				t.Errorf("%s: the weight at the radius is %g", c.name, w)
			}
		}
		pairs := 0
		for i := range c.x.Rows {
			for j := range c.x.Rows {
				want := 0.0
				if d := distance(c.x, i, j); i != j && d <= c.radius {
					want = b.Weight(d * d)
					pairs++
				}
				if got := g.Weights.At(i, j); (got == 0) != (want == 0) || math.Abs(got-want) > 1e-5*want {
					t.Fatalf("%s: weight of rows %d and %d: %g, want %g", c.name, i, j, got, want)
				}
			}
		}
		if pairs == 0 || pairs != g.Weights.NNZ() {
			t.Errorf("%s: %d pairs, %d weights", c.name, pairs, g.Weights.NNZ())
		}
	}
}

// Embed and Plan use the radius like NeighbourGraph, and treat the graph as truncated.
func TestCutoffRadiusElsewhere(t *testing.T) {
	x, y := classes(t, 120, 4)
	e := engine(t)
	s := &Settings{Graph: Graph{CutoffRadius: 0.7}, Form: kernel.Attract, Coefficient: 1}
	g, err := e.NeighbourGraph(t.Context(), x, &s.Graph)
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Embed(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	if m.Graph.Radius != 0.7 || m.Graph.MeanNeighbours != g.Graph.MeanNeighbours || m.Graph.Bandwidth != g.Graph.Bandwidth {
		t.Errorf("%+v, graph %+v", m.Graph, g.Graph)
	}
	p, err := e.Plan(t.Context(), x, s)
	if err != nil {
		t.Fatal(err)
	}
	if p.Bandwidth != g.Graph.Bandwidth || !kernel.Truncates(p.Candidates[0].Name) {
		t.Errorf("plan %+v", p)
	}
	s.Into, s.Overwrite = x, true // allowed where the graph is truncated
	if _, err := e.Embed(t.Context(), x, y, s); err != nil {
		t.Errorf("overwrite: %v", err)
	}
}

func TestCutoffRadiusRefusals(t *testing.T) {
	x, _ := classes(t, 20, 3)
	for name, c := range map[string]struct {
		settings Settings
		want     error
	}{
		"negative":               {Settings{Graph: Graph{CutoffRadius: -1}}, kernel.ErrOption},
		"not a number":           {Settings{Graph: Graph{CutoffRadius: math.NaN()}}, kernel.ErrOption},
		"infinite":               {Settings{Graph: Graph{CutoffRadius: math.Inf(1)}}, kernel.ErrOption},
		"with a weight":          {Settings{Graph: Graph{CutoffRadius: 1, Bandwidth: kernel.Sigma(1), CutoffWeight: 0.1}}, kernel.ErrOption},
		"with a mean":            {Settings{Graph: Graph{CutoffRadius: 1, MeanNeighbours: 3}}, kernel.ErrOption},
		"with neighbours":        {Settings{Graph: Graph{CutoffRadius: 1, Neighbours: 3}}, kernel.ErrOption},
		"so small no bandwidth":  {Settings{Graph: Graph{CutoffRadius: 1e-200}}, kernel.ErrBandwidth},
		"of every pair":          {Settings{Graph: Graph{CutoffRadius: 1, Operator: "dense"}}, kernel.ErrOperator},
		"nothing that is wanted": {Settings{}, kernel.ErrOption},
	} {
		if _, err := engine(t).Embed(t.Context(), x, nil, &c.settings); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
