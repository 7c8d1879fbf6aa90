package margin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/par"
)

func matrix(n, d int, at func(i, j int) float64) blas32.General {
	x := blas32.General{Rows: n, Cols: d, Stride: d + 1, Data: make([]float32, n*(d+1))}
	for i := range x.Data {
		x.Data[i] = float32(math.NaN()) // what is between rows is never read
	}
	for i := range n {
		for j := range d {
			x.Data[i*x.Stride+j] = float32(at(i, j))
		}
	}
	return x
}

// scene is rows of some classes around centres, and places that are a linear image of them, a
// little moved.
func scene(seed uint64, n, classes int) *Embedding {
	rng := rand.New(rand.NewPCG(seed, 1))
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(rng.IntN(classes))*3 - 1
		if i < 2 {
			labels[i] = int32(3*i + 2) // two classes at least
		}
	}
	rows := matrix(n, 5, func(i, j int) float64 { return float64(labels[i])*float64(j%2) + rng.NormFloat64() })
	images := matrix(n, 3, func(i, j int) float64 {
		return 2*float64(rows.Data[i*rows.Stride+j]) - float64(rows.Data[i*rows.Stride+j+1])
	})
	places := matrix(n, 3, func(i, j int) float64 { return float64(images.Data[i*images.Stride+j]) + rng.Float64()/8 })
	return &Embedding{Rows: rows, Places: places, Images: images, Labels: labels, Interpolation: Interpolation{Lipschitz: 3}}
}

// Distances between classes, quantiles, A_delta, what places are off, and the least Lipschitz
// constant are those of a search of all pairs.
func TestEqualsBruteForce(t *testing.T) {
	for seed := range uint64(30) {
		n := 2 + int(seed*seed)%90
		e := scene(seed, n, 2+int(seed)%6)
		workers := par.New(1 + int(seed)%3)
		r, err := Diagnose(t.Context(), e, &Settings{Workers: workers})
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-7*(1+math.Abs(b)) }
		apart := func(x blas32.General, i, j int) float64 { return distance(rowOf(x, uint32(i)), rowOf(x, uint32(j))) }
		var gaps, nearest []float64
		gamma := map[int32]float64{}
		for i, a := range e.Labels {
			if a < 0 {
				continue
			}
			gap, own := math.Inf(1), math.Inf(1)
			for j, b := range e.Labels {
				switch {
				case b >= 0 && a != b:
					gap = min(gap, apart(e.Places, i, j))
				case a == b && i != j:
					own = min(own, apart(e.Rows, i, j))
				}
			}
			gaps = append(gaps, gap)
			if own < math.Inf(1) {
				nearest = append(nearest, own)
			}
			if old, ok := gamma[a]; !ok || gap < old {
				gamma[a] = gap
			}
		}
		slices.Sort(gaps)
		slices.Sort(nearest)
		if r.Rows != len(gaps) || !near(r.Gamma, gaps[0]) || !near(r.Gaps[0].Distance, gaps[0]) || !near(r.Gaps[3].Distance, gaps[(len(gaps)+1)/2-1]) {
			t.Fatalf("seed %d: gamma %g, quantiles %v, want %v", seed, r.Gamma, r.Gaps, gaps)
		}
		off := 0.0
		for i, a := range e.Labels {
			if a >= 0 {
				off = max(off, distance(rowOf(e.Places, uint32(i)), rowOf(e.Images, uint32(i))))
			}
		}
		if !near(r.Off, off) {
			t.Fatalf("seed %d: places are off by %g, want %g", seed, r.Off, off)
		}
		for _, c := range r.Classes {
			if !near(c.Gamma, gamma[c.Label]) {
				t.Fatalf("seed %d, class %d: gamma %g, want %g", seed, c.Label, c.Gamma, gamma[c.Label])
			}
		}
		if len(nearest) == 0 {
			continue
		}
		for j, want := range []float64{nearest[(len(nearest)+1)/2-1], nearest[int(math.Ceil(.9*float64(len(nearest))))-1], nearest[len(nearest)-1]} {
			s := r.Scales[j]
			spread := 0.0
			for i, a := range e.Labels {
				for k := range i {
					if a >= 0 && a == e.Labels[k] && apart(e.Rows, i, k) <= 2*s.Delta {
						spread = max(spread, apart(e.Places, i, k))
					}
				}
			}
			if !near(s.Delta, want) || !near(s.Spread, spread) || !near(s.Carry, 3*s.Delta) {
				t.Fatalf("seed %d: %+v, want a delta of %g and a spread of %g", seed, s, want, spread)
			}
		}
		e.Interpolation, e.Images = Interpolation{Smoothest: true}, blas32.General{}
		if r, err = Diagnose(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		stretch := 0.0
		for i, a := range e.Labels {
			for k, b := range e.Labels[:i] {
				if a >= 0 && b >= 0 {
					stretch = max(stretch, apart(e.Places, i, k)/apart(e.Rows, i, k))
				}
			}
		}
		if !near(r.Lipschitz, stretch) || r.Off != 0 {
			t.Fatalf("seed %d: the smoothest function has %g, want %g; off by %g", seed, r.Lipschitz, stretch, r.Off)
		}
	}
}

// Balls hold as many rows as they say around every anchor, and no smaller ones do.
func TestBallsEqualBruteForce(t *testing.T) {
	e := scene(3, 200, 3)
	s, err := (*Settings)(nil).complete()
	if err != nil {
		t.Fatal(err)
	}
	d := &diagnosis{Embedding: e, settings: s, classes: classesOf(e.Labels)}
	for _, c := range d.classes {
		done := 0
		m, err := d.balls(t.Context(), &c, &done)
		if err != nil {
			t.Fatal(err)
		}
		for j, k := range m.counts {
			want := 0.0
			for _, i := range c.rows {
				var to []float64
				for _, o := range c.rows {
					if o != i {
						to = append(to, distance(rowOf(e.Rows, i), rowOf(e.Rows, o)))
					}
				}
				slices.Sort(to)
				want = max(want, to[k-1])
			}
			if math.Abs(m.delta[j]-want) > 1e-7*want {
				t.Fatalf("class %d: balls of %g hold %d rows, want %g", c.label, m.delta[j], k, want)
			}
		}
		if m.counts[len(m.counts)-1] != len(c.rows)-1 || !slices.IsSorted(m.eta) || !slices.IsSorted(m.delta) || done != len(c.rows) {
			t.Fatalf("class %d of %d rows: %+v", c.label, len(c.rows), m)
		}
	}
}

// The masses of a class and what it leaves unseen are those of docs/margin.md: the probabilities of
// all mistakes add up to what the confidence leaves, over classes, counts and anchors.
func TestMistakesAddUp(t *testing.T) {
	e := scene(4, 300, 3)
	for _, anchors := range []int{20, 1000} {
		s, err := (&Settings{Confidence: .9, Anchors: anchors}).complete()
		if err != nil {
			t.Fatal(err)
		}
		d := &diagnosis{Embedding: e, settings: s, classes: classesOf(e.Labels)}
		mistakes, done := 0.0, 0
		for _, c := range d.classes {
			m, err := d.balls(t.Context(), &c, &done)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.anchors) != min(anchors, len(c.rows)) || len(m.counts) < 5 {
				t.Fatalf("%d anchors, counts %v", len(m.anchors), m.counts)
			}
			for j, k := range m.counts {
				low := mathext.RegIncBeta(float64(k), float64(len(c.rows)-k), m.eta[j])
				mistakes += float64(len(m.anchors))*low + math.Pow(1-m.unseen, float64(len(m.anchors)))
			}
		}
		if math.Abs(mistakes-.1) > 1e-6 {
			t.Errorf("%d anchors: mistakes have a probability of %g, want .1", anchors, mistakes)
		}
	}
}

// Places that are moved apart are further from each other than their images, by both moves.
func TestSpreadOfMovedPlaces(t *testing.T) {
	e := &Embedding{
		Rows:          matrix(2, 1, func(i, _ int) float64 { return float64(i) }),
		Images:        matrix(2, 1, func(i, _ int) float64 { return float64(i) }),
		Places:        matrix(2, 1, func(i, _ int) float64 { return 3*float64(i) - 1 }),
		Interpolation: Interpolation{Lipschitz: 1},
	}
	d := &diagnosis{Embedding: e, lipschitz: 1}
	if got := d.spreadBounds(&class{rows: []uint32{0, 1}}, []float64{.5})[0]; got < 3 || got > 3.001 {
		t.Errorf("A_delta is bounded by %g, and is 3", got)
	}
}

// Limits of shares are those of tables: where all trials succeed, and where one does.
func TestLeastShare(t *testing.T) {
	for _, c := range []struct {
		successes, trials int
		miss, want        float64
	}{
		{10, 10, .05, math.Pow(.05, .1)}, {1, 10, .05, 1 - math.Pow(.95, .1)}, {1, 1, .025, .025},
		{5, 10, .025, .187086}, {50, 100, .025, .398321}, {99, 99, 1e-8, math.Pow(1e-8, 1./99)}, // the 95 % limits of Clopper and Pearson
	} {
		if got := leastShare(c.successes, c.trials, c.miss); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d of %d: %g, want %g", c.successes, c.trials, got, c.want)
		}
	}
}

// No other Q gives more, among all of them.
func TestTheoremTriesQ(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, eta := 1+rng.IntN(400), rng.Float64()
		carry, room, columns := rng.Float64()/4, rng.Float64(), 1+rng.IntN(20)
		got, epsilon, q := theorem(n, eta, carry, room, columns)
		if math.Abs(epsilon*math.Sqrt(float64(columns))-room) > 1e-12 {
			t.Fatalf("epsilon %g of room %g in %d columns", epsilon, room, columns)
		}
		formula := func(q float64) float64 {
			return 1 - math.Exp(-2*math.Pow(float64(n)*eta-q, 2)/float64(n)) - 2*float64(columns)*math.Exp(-q*epsilon*epsilon/(2*carry*carry))
		}
		best := 0.0
		for q := 1.0; q < float64(n)*eta; q++ {
			best = max(best, formula(q))
		}
		if got > best+1e-12 || got < best-.01 {
			t.Fatalf("n %d, eta %g, carry %g, room %g, %d columns: %g with Q = %d, the best is %g", n, eta, carry, room, columns, got, q, best)
		}
	}
}

// No image is carried further than Carry says, with and without a division by norms.
func TestCarry(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	closest := 1.0
	for range 200_000 {
		d := &diagnosis{Embedding: &Embedding{Interpolation: Interpolation{Unit: true, Floor: .5 + rng.Float64()}}, lipschitz: 2}
		angle, turn, delta := 2*math.Pi*rng.Float64(), 2*math.Pi*rng.Float64(), rng.Float64()
		norm := d.Floor * (1 + rng.Float64()*rng.Float64()*rng.Float64())
		v := [2]float64{norm * math.Cos(angle), norm * math.Sin(angle)}
		u := [2]float64{v[0] + 2*delta*math.Cos(turn), v[1] + 2*delta*math.Sin(turn)}
		apart := math.Hypot(u[0]/math.Hypot(u[0], u[1])-v[0]/norm, u[1]/math.Hypot(u[0], u[1])-v[1]/norm)
		limit := d.carry(delta)
		if apart > limit*(1+1e-9) {
			t.Fatalf("rows within %g have images %g apart, more than %g", delta, apart, limit)
		}
		closest = min(closest, 1-apart/limit)
	}
	if closest > .001 {
		t.Errorf("the limit is never nearly met: %g short", closest)
	}
	if d := (&diagnosis{Embedding: &Embedding{Interpolation: Interpolation{Lipschitz: 2}}, lipschitz: 2}); d.carry(3) != 6 {
		t.Errorf("a map of constant 2 carries 3 to %g", d.carry(3))
	}
}
