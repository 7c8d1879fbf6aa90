package supervised

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/dense"
)

// From a ridge the others are tried upwards and downwards, nearest first.
func TestLadders(t *testing.T) {
	f := &field{ridges: []float64{0.01, 0.1, 1, 10}}
	for _, c := range []struct {
		from     float64
		up, down []float64
	}{
		{0.1, []float64{1, 10}, []float64{0.01}},
		{10, nil, []float64{1, 0.1, 0.01}},
		{0.5, []float64{1, 10}, []float64{0.1, 0.01}},
		{0, []float64{0.01, 0.1, 1, 10}, nil},
	} {
		if got := f.ladders(c.from); !slices.Equal(got[0], c.up) || !slices.Equal(got[1], c.down) {
			t.Errorf("from %g: %v, want %v and %v", c.from, got, c.up, c.down)
		}
	}
}

// Few rows in many columns of noise need a strong ridge: climbing finds it, and stops at the first
// ridge that finds less.
func TestClimb(t *testing.T) {
	const n, d, classes = 240, 300, 6
	random := rand.New(rand.NewPCG(7, 1))
	rows, labels, labelled := newRows(n, d), make([]int32, n), make([]int, n)
	for i := range n {
		labels[i], labelled[i] = int32(i%classes), i
		row := rowOf(rows, i)
		for j := range row {
			row[j] = float32(random.NormFloat64())
		}
		for j := range 20 {
			row[20*int(labels[i])+j] += 0.9
		}
	}
	f := &fitter{settings: new(Settings), core: new(dense.Core)}
	c := f.newContest(rows, labels, labelled, rand.New(rand.NewPCG(1, 1)))
	weak := &entry{Recipe: Recipe{Projection: Discriminate, Ridge: 0.01}, field: true}
	if err := c.try(t.Context(), weak); err != nil {
		t.Fatal(err)
	}
	ladder := &field{ridges: []float64{0.01, 0.1, 1, 10, 100, 1000, 1e4}}
	if err := c.climb(t.Context(), ladder, []*entry{weak}); err != nil {
		t.Fatal(err)
	}
	last, best := weak, 0.0
	for at, ridge := range ladder.ridges[1:] {
		r := weak.Recipe
		r.Ridge = ridge
		e := c.entry(r)
		if e == nil {
			t.Fatalf("ridge %g was not tried", ridge)
		}
		found := e.recall(nil).At1
		best = max(best, found)
		if e.out || found < last.recall(nil).At1 {
			for _, r.Ridge = range ladder.ridges[at+2:] {
				if c.entry(r) != nil {
					t.Errorf("ridge %g was tried after %g had found less", r.Ridge, ridge)
				}
			}
			break
		}
		last = e
	}
	if first := weak.recall(nil).At1; best < first+0.1 {
		t.Errorf("R@1 %.3f at ridge 0.01, %.3f at the best", first, best)
	}
}
