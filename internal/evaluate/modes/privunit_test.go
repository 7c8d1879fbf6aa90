package modes

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// A release lies in the cap as often as it should, uniformly within, and across
// the row in no preferred direction.
func TestPrivUnit(t *testing.T) {
	const d, draws = 6, 20000
	for _, epsilon := range []float64{0.5, 4} {
		u := newPrivUnit(epsilon, d, rand.New(random.NewSplitMix64(1)))
		if ratio := u.p * u.low / ((1 - u.p) * (1 - u.low)); math.Abs(ratio/math.Exp(epsilon)-1) > 1e-9 {
			t.Errorf("epsilon %g: the densities are as %g", epsilon, ratio)
		}
		gamma := 2*mathext.InvRegIncBeta(u.a, u.a, u.low) - 1
		inside, mean := 0.0, make([]float64, d)
		for range draws {
			row := []float64{0, 0, 1, 0, 0, 0}
			u.release(row)
			norm := 0.0
			for j, v := range row {
				norm += v * v
				mean[j] += v / draws
			}
			if math.Abs(norm-1) > 1e-12 {
				t.Fatalf("length %g", math.Sqrt(norm))
			}
			if row[2] >= gamma {
				inside++
			}
		}
		if got := inside / draws; math.Abs(got-u.p) > 5*math.Sqrt(u.p*(1-u.p)/draws) {
			t.Errorf("epsilon %g: in the cap with %g, want %g", epsilon, got, u.p)
		}
		for j, v := range mean {
			if j != 2 && math.Abs(v) > 5/math.Sqrt(draws) {
				t.Errorf("epsilon %g: coordinate %d has mean %g", epsilon, j, v)
			}
		}
		if mean[2] < 0.1*epsilon {
			t.Errorf("epsilon %g: the mean is %g along the row", epsilon, mean[2])
		}
	}
}

func TestPrivUnitRefuses(t *testing.T) {
	p, err := evaluate.NewProblem(rows(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		evaluate.Params
		want error
	}{
		"no epsilon": {evaluate.Params{Dim: 8}, mechanism.ErrParam},
		"not finite": {evaluate.Params{Epsilon: math.NaN(), Dim: 8}, mechanism.ErrParam},
	} {
		task := &evaluate.Task{Problem: p, Params: c.Params, Queries: p.Queries}
		if _, err := askDirections(t.Context(), task, components); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// At a large epsilon the direction is that of the query, and the 8 nearest means
// nearly always hold that of its class; both places tell the classes apart.
func TestDirectionsAtLargeEpsilon(t *testing.T) {
	for _, r := range measure(t, rows(t), []evaluate.Mode{PrivUnit(), PrivUnitPrepared()}, 0, 30) {
		if v := r.Figures[evaluate.RecallAt8]; v < 0.8 {
			t.Errorf("%s: R@8 %.3f", r.Mode, v)
		}
	}
}
