package supervised

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/dense"
)

// The plan keeps to its budgets, and holds out what they allow.
func TestPlan(t *testing.T) {
	for _, c := range []struct{ n, d, rows, parts, folds, held int }{
		{150, 4, 150, 10, 30, 450},            // iris: every row three times
		{1797, 64, 1797, 10, 30, 1797},        // digits: once
		{4424, 256, 4424, 10, 30, 4414},       // every row once
		{11_788, 1280, 4882, 4, 1, 2400},      // a quarter of a sample
		{795, 8000, 795, 5, 2, 1000},          // two fifths, in the span of the rows
		{1_000_000, 64, 20_000, 10, 30, 1000}, // a sample
		{1_000_000, 8000, 1000, 3, 1, 1000},
		{20, 1, 20, 10, 30, 60},
	} {
		got := planOf(c.n, c.d)
		if got != (plan{c.rows, c.parts, c.folds, c.held}) {
			t.Errorf("%d x %d rows: %+v, want %+v", c.n, c.d, got, c)
		}
	}
	for range 2000 {
		n, d := 20+rand.IntN(1<<rand.IntN(22)), 1+rand.IntN(1<<rand.IntN(17))
		p := planOf(n, d)
		width := float64(min(d, p.rows))
		if p.rows < 1 || p.rows > n || p.folds < 1 || p.held < 1 || float64(p.rows)*float64(d)*width > 1.01*covarianceProducts {
			t.Fatalf("%d x %d rows: %+v", n, d, p)
		}
		if p.held > leastHeld && float64(p.held)*float64(p.rows)*width > 1.01*wideProducts {
			t.Fatalf("%d x %d rows: %+v", n, d, p)
		}
	}
}

// A contest holds out what its plan says, each row as often as any other but one, among rows
// that have its class.
func TestContestHoldsOut(t *testing.T) {
	rows := newRows(300, 3)
	labels := make([]int32, 300)
	var labelled []int
	for i := range labels {
		labels[i] = int32(i % 30)
		if i%7 == 0 {
			labels[i] = -1
			continue
		}
		labelled = append(labelled, i)
		rowOf(rows, i)[0] = float32(i)
	}
	f := &fitter{settings: new(Settings), core: new(dense.Core)}
	c := f.newContest(rows, labels, labelled, rand.New(rand.NewPCG(1, 1)))
	if want := planOf(len(labelled), 3); len(c.row) != want.held || len(c.folds) > want.folds {
		t.Errorf("%d rows held out in %d parts, want %+v", len(c.row), len(c.folds), want)
	}
	times, at := make([]int, len(c.labels)), 0
	for _, s := range c.folds {
		there := make(map[int32]bool)
		trained := make(map[int]bool)
		for _, i := range s.train {
			there[c.labels[i]], trained[i] = true, true
		}
		for _, i := range s.held {
			if c.row[at] != i || trained[i] || !there[c.labels[i]] {
				t.Fatalf("row %d is held out", i)
			}
			times[i]++
			at++
		}
	}
	for i, n := range times {
		if n < times[0]-1 || n > times[0]+1 || rowOf(c.rows, i)[0] != float32(c.numbers[i]) || c.labels[i] != labels[c.numbers[i]] {
			t.Fatalf("row %d is held out %d times, row 0 %d times", i, n, times[0])
		}
	}
}
