package privatemail

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The first step of hostile neighbours, computed as Privatize computes it, stays
// within the bound it is calibrated to, for any operator, relation, size,
// bandwidth and norms; and neither the bound nor a refusal depends on the
// private record.
func TestNeighboursStayWithinTheBound(t *testing.T) {
	e := engine(t, WithWorkers(1))
	cases := 1500
	if !longtest.Wanted() {
		cases = 300
	}
	worst, refused := map[string]float64{}, 0
	for seed := range cases {
		c := drawNeighbours(rand.New(rand.NewPCG(uint64(seed), 2)))
		f, bound, err := c.step(t, e, c.x, c.y)
		g, other, otherErr := c.step(t, e, c.neighbour, c.neighbourLabels)
		if (err == nil) != (otherErr == nil) {
			t.Fatalf("case %d: one neighbour is refused and not the other: %v, %v", seed, err, otherErr)
		}
		if err != nil {
			refused++
			continue
		}
		if bound.Value() != other.Value() {
			t.Fatalf("case %d: the bound depends on the private row: %g, %g", seed, bound.Value(), other.Value())
		}
		for i, v := range g.Data {
			f.Data[i] -= v
		}
		ratio := blas64.Nrm2(blas64.Vector{N: len(f.Data), Inc: 1, Data: f.Data}) / bound.Value()
		name := fmt.Sprintf("%v, %s %s", c.settings.Relation, bound.Derivation(), c.settings.Operator)
		worst[name] = max(worst[name], ratio)
		if !(ratio <= 1) {
			t.Errorf("case %d: %g times the bound: %+v", seed, ratio, c.settings)
		}
	}
	t.Logf("%d of %d refused; largest parts of the bound %v", refused, cases, worst)
	if refused > cases/3 || len(worst) < 16 {
		t.Errorf("%d of %d refused, %d kinds", refused, cases, len(worst))
	}
}

// neighbours are two data sets that differ in one record.
type neighbours struct {
	settings           PrivateSettings
	x, neighbour       blas64.General
	y, neighbourLabels []int32
	nulls              int
}

func drawNeighbours(rng *rand.Rand) *neighbours {
	pick := func(values ...float64) float64 { return values[rng.IntN(len(values))] }
	n, d, k := 2+rng.IntN(9), 1+rng.IntN(3), 1+rng.IntN(3)
	if rng.IntN(10) == 0 {
		k = 20
	}
	row := rng.IntN(n)
	s := PrivateSettings{
		Epsilon: 1, Delta: 1e-6, Relation: sensitivity.Relation(1 + rng.IntN(4)), LabelMode: release.ModeDropped,
		Bandwidth: kernel.Sigma(pick(0.06, 0.1, 0.3, 1, 6, 100)), Alpha: pick(0, 0.6, -0.6, 5, -50), SigmaQ: pick(1e-8, 1, 1e8),
		Table: []string{"equal", "different", "gaussian"}[rng.IntN(3)], Classes: 1 + rng.IntN(4), Dim: k, Seed: rng.Uint64(), NormalizeRows: true,
	}
	switch rng.IntN(7) {
	case 0:
		s.PrivateRows = []int{row}
	case 1:
		s.PrivateRows, s.RestPublic = []int{row}, true
	case 2:
		s.Operator, s.Radius = "background", pick(0.1, 0.9, 1, 1.5, 2)
	case 3:
		s.Classes = 65536
	case 4, 5:
		s.Operator, s.Bandwidth = "poly", kernel.Sigma(pick(0.4, 1, 2, 6, 100))
	}
	record := func() []float64 {
		v, scale := make([]float64, d), pick(1, 1e-300, 1e300)
		if rng.IntN(2) == 0 {
			v[rng.IntN(d)] = pick(1, -1) * scale
			return v
		}
		for i := range v {
			v[i] = rng.NormFloat64() * scale
		}
		return v
	}
	label := func() int32 { return int32(pick(0, float64(s.Classes-1), float64(rng.IntN(s.Classes)))) }
	c := &neighbours{settings: s, x: blas64.General{Rows: n, Cols: d, Stride: d}}
	base := record()
	for range n {
		v := base
		if rng.IntN(3) == 0 {
			v = record()
		}
		c.x.Data, c.y = append(c.x.Data, v...), append(c.y, label())
	}
	c.neighbour, c.neighbourLabels = c.x, slices.Clone(c.y)
	c.neighbour.Data = slices.Clone(c.x.Data)
	changed := c.neighbour.Data[row*d:][:d]
	switch s.Relation {
	case sensitivity.Null, sensitivity.FeaturesNull:
		clear(changed)
		c.nulls = 1
	default:
		copy(changed, record())
		if rng.IntN(2) == 0 {
			for i := range changed {
				changed[i] = -c.x.Data[row*d+i]
			}
		}
	}
	switch s.Relation {
	case sensitivity.Null:
		c.neighbourLabels[row] = 0
	case sensitivity.ReplaceOne:
		c.neighbourLabels[row] = label()
	}
	return c
}

// step returns f - Q and the bound, as Privatize computes them.
func (c *neighbours) step(t *testing.T, e *Engine, x blas64.General, y []int32) (f blas64.General, _ sensitivity.Bound, _ error) {
	t.Helper()
	s, err := c.settings.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := privatePlan{settings: &s}
	if err := p.draw(t.Context(), x.Rows); err != nil {
		t.Fatal(err)
	}
	if err := p.measure(); err != nil {
		t.Fatal(err)
	}
	rows, err := kernel.NewUnitRows(x, kernel.UnitOptions{Normalize: true, Nulls: c.nulls})
	if err != nil {
		t.Fatal(err)
	}
	if s.RestPublic {
		p.bound, err = p.known(t.Context(), rows, y)
	} else {
		p.bound, err = p.tight(s.Relation)
	}
	if err == nil {
		err = p.inflate(x.Cols)
	}
	if err != nil {
		return f, p.bound, err
	}
	f, err = e.firstStep(t.Context(), rows, y, &p, e.firstOptions(t.Context(), p.settings))
	return f, p.bound, err
}
