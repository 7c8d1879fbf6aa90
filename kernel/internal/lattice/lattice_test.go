package lattice

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// interpolationError returns the one-sided errors 2 K (rho/2)^p / sqrt(p!) of a table. The
// actual error is below the bound, and not by much.
func TestInterpolationError(t *testing.T) {
	for _, c := range []struct {
		rho  float64
		p    int
		want float64
	}{
		{0.25, 6, 3.1e-7}, {0.25, 8, 6.4e-10}, {0.25, 10, 1.1e-12},
		{0.5, 6, 2.0e-5}, {0.5, 8, 1.7e-7}, {0.5, 10, 1.1e-9}, {0.5, 12, 5.9e-12},
		{1, 6, 1.3e-3}, {1, 8, 4.2e-5}, {1, 10, 1.1e-6}, {1, 12, 2.4e-8},
		{2, 6, 8.1e-2}, {2, 8, 1.1e-2}, {2, 10, 1.1e-3}, {2, 12, 9.9e-5},
	} {
		bound := interpolationError(c.rho, c.p)
		if math.Abs(bound/c.want-1) > 0.06 {
			t.Errorf("rho=%g p=%d: bound %.2g, want %.2g", c.rho, c.p, bound, c.want)
		}
		i, kernels, basis := NewChebyshev(c.p), simd.At(simd.Best()), make([]float64, c.p*simd.NodeLanes)
		worst, lam := 0.0, 0.0
		for at := -1.0; at <= 1; at += 0.01 {
			kernels.LagrangeBasis(basis, slices.Repeat([]float64{at}, simd.NodeLanes), i.Nodes, i.Factor)
			size := 0.0
			for a := range i.Nodes {
				size += math.Abs(basis[a*simd.NodeLanes])
			}
			lam = max(lam, size)
			for apart := -2 * c.rho; apart < 6; apart += 0.05 { // below zero the other point is inside
				sum := 0.0
				for a, node := range i.Nodes {
					x := apart + c.rho*(1+node)
					sum += basis[a*simd.NodeLanes] * math.Exp(-x*x/2)
				}
				x := apart + c.rho*(1+at)
				e := math.Abs(sum - math.Exp(-x*x/2))
				worst = max(worst, e)
				if least := max(apart, 0); e > bound*math.Exp(-least*least/4)+1e-15 {
					t.Fatalf("rho=%g p=%d: %g apart the error is %g, bound %g", c.rho, c.p, apart, e, bound*math.Exp(-least*least/4))
				}
			}
		}
		if worst < 0.15*bound-1e-15 {
			t.Errorf("rho=%g p=%d: error %.2g, bound %.2g", c.rho, c.p, worst, bound)
		}
		if lam > lebesgue(c.p) || lam < 0.8*lebesgue(c.p) {
			t.Errorf("p=%d: sum of the basis %g, bound %g", c.p, lam, lebesgue(c.p))
		}
	}
}

// keyBits takes the number of cells from their numbers along the axes. As a float64,
// 2^55 + 1 cells would be 2^55, whose keys have a bit less.
func TestLatticeKeyBits(t *testing.T) {
	for _, c := range []struct {
		size []int
		want int
	}{
		{[]int{1}, 0},
		{[]int{4, 2}, 3},
		{[]int{3, 3}, 4},
		{[]int{538037401, 66963369}, 56},
	} {
		l := Lattice{D: len(c.size)}
		copy(l.size[:], c.size)
		if got := l.keyBits(); got != c.want {
			t.Errorf("%v cells have numbers of %d bits, want %d", c.size, got, c.want)
		}
	}
}

// SortPoints keeps all cells where that is asked for, and otherwise the occupied cells.
func TestSortedCells(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for d := 1; d <= MaxAxes; d++ {
		for _, kind := range []string{"uniform", "collinear", "lattice", "identical"} {
			p := pointtest.Open(pointtest.Make(kind, 200>>d, d, 3))
			l, ok := New(p, 0.3, 1)
			if !ok {
				t.Fatalf("d=%d %s: no lattice", d, kind)
			}
			for _, all := range []bool{true, false} {
				c, err := l.SortPoints(t.Context(), p, 1, all, workers)
				if err != nil {
					t.Fatal(err)
				}
				if (c.keys == nil) != all || all && c.Count() != int(l.Cells) || !all && len(c.keys) != c.Count() {
					t.Errorf("d=%d %s, all %v: %d cells with %d keys of %g", d, kind, all, c.Count(), len(c.keys), l.Cells)
				}
				for i, count := range c.Counts() {
					if count == 0 && !all {
						t.Errorf("d=%d %s: cell %d is kept and empty", d, kind, i)
					}
					for _, row := range c.Order[c.Start[i]:c.Start[i+1]] {
						key := uint64(0)
						for a := range d {
							cell, _ := l.Locate(a, float64(p.Single.Row(int(row))[a]))
							key = key*uint64(l.size[a]) + uint64(cell)
						}
						if key != c.Key(i) {
							t.Errorf("d=%d %s, all %v: row %d of cell %d is in cell %d", d, kind, all, row, key, c.Key(i))
						}
					}
				}
			}
		}
	}
}
