package ranks

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// The rows that ranks of uniform points exchange, and the sums they gather, are as many as
// the model says.
func TestModelAgainstCountedBytes(t *testing.T) {
	for _, c := range []struct{ n, d, ranks int }{{40_000, 1, 3}, {40_000, 2, 2}, {40_000, 2, 4}, {40_000, 3, 2}, {60_000, 3, 3}} {
		m := &scaleModel{n: float64(c.n), d: c.d, k: suites.RankColumns, degree: suites.Neighbours, ranks: c.ranks}
		x, err := synth.Uniform(c.n, c.d, 7)
		if err != nil {
			t.Fatal(err)
		}
		var halo, gather, sums, found [8]int64
		err = cluster.Local(c.ranks, func(ranks *par.Ranks) error {
			op, err := suites.BuildCSR(t.Context(), x, kernel.Gamma(1/m.radius()/m.radius()), kernel.Options{CutoffRadius: m.radius(), Ranks: ranks})
			if err != nil {
				return err
			}
			defer op.Close()
			found[ranks.Rank()], _ = ranks.Traffic()
			of := graphstats.TrafficOf(op, suites.RankColumns)
			halo[ranks.Rank()], gather[ranks.Rank()] = of.Halo, of.Gather
			if of.Overlapped != m.halos() {
				t.Errorf("%+v: halos are in use: %v", c, of.Overlapped)
			}
			y, dst, st := suites.Block(c.n, suites.RankColumns), suites.Zeros(c.n, suites.RankColumns), new(kernel.Stats)
			if err := st.Gather(y, nil); err != nil {
				return err
			}
			before, _ := ranks.Traffic()
			err = op.Step(t.Context(), dst, y, &kernel.Step{}, st)
			after, _ := ranks.Traffic()
			sums[ranks.Rank()] = after - before
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		middle := c.ranks / 2 // it has two faces where there are three ranks or more
		near := func(what string, counted int64, model, most float64) {
			if math.Abs(float64(counted)-model) > most*model {
				t.Errorf("%+v: %s: %d bytes counted, %.0f by the model", c, what, counted, model)
			}
		}
		near("halo", halo[middle], m.haloBytes(), 0.3)
		near("iterate", gather[middle], m.gatherBytes(), 0.1)
		if c.d > 1 { // on a line some points are equal, and ranks gather more of them
			near("search", found[middle], m.foundBytes(), 0.1)
		}
		near("sums", sums[middle], m.sumBytes(), 0.5)
	}
}

// One rank receives nothing. More ranks stream less each, and receive no more than the
// whole iterate.
func TestModelAtItsEnds(t *testing.T) {
	f := Model{D: 3, K: 2, Degree: 32, Cores: 32, Read: 100, Madd: 4, Link: 10, Latency: 5}
	for _, n := range []float64{1e3, 1e6, 1e9} {
		one := f.line(n, 1)
		if one.Messages != 0 || one.HaloBytes != 0 || one.GatherBytes != 0 || one.SumBytes != 0 || one.GhostRows != 0 || one.StepSpeedup != 1 || one.SearchSpeedup != 1 {
			t.Errorf("%+v", one)
		}
		before := one
		for ranks := 2; ranks <= 1024; ranks *= 2 {
			v := f.line(n, ranks)
			if v.HaloBytes > v.GatherBytes || v.StepBytes >= before.StepBytes || v.StepMadds >= before.StepMadds || v.Messages < 1 || v.Messages > 2*1024 || v.StepSpeedup > float64(ranks) || v.SearchSpeedup > float64(ranks) {
				t.Errorf("%+v", v)
			}
			before = v
		}
	}
	// In the plane a ball of radius r has pi r^2 n points.
	m := scaleModel{n: 1e6, d: 2, degree: 100 * math.Pi, ranks: 2}
	if r := m.radius(); math.Abs(r-0.01) > 1e-9 || math.Abs(m.ghosts()-1e4) > 1e-3 {
		t.Errorf("radius %g, %g ghosts", r, m.ghosts())
	}
	// Start and iterates are whole on every rank: with many columns they are most of its memory.
	m = scaleModel{n: 1e6, d: 2, k: 100, degree: 32, ranks: 1024}
	if least := 3 * 4 * 100 * m.n; m.memory() < least {
		t.Errorf("%g bytes, and iterates and start have %g", m.memory(), least)
	}
}
