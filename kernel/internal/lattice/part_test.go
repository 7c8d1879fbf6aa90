package lattice

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// Some of the cells have the same products as among all cells, whatever is in the nodes that
// are not among their sources.
func TestProductsOfSomeCells(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for d := 1; d <= MaxAxes; d++ {
		for _, all := range []bool{true, false} {
			p := pointtest.Open(pointtest.Make("uniform", 60, d, 5))
			l, ok := New(p, 0.2, 1)
			if !ok {
				t.Fatal("no lattice")
			}
			l.SetReach(1)
			cells, err := l.SortPoints(t.Context(), p, 1, all, workers)
			if err != nil {
				t.Fatal(err)
			}
			transfer := GaussTransfer(&l, cells, NewChebyshev(2))
			for _, k := range []int{1, 3} {
				rng := pointtest.Rand(uint64(d))
				x := make([]float64, k*transfer.Nodes)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				whole := NewPass(transfer, k, workers.Count(), simd.At(simd.Best()))
				copy(whole.In, x)
				if err := whole.Do(t.Context(), workers); err != nil {
					t.Fatal(err)
				}
				n := cells.Count()
				for _, part := range [][2]int{{0, n}, {0, 0}, {n, n}, {n / 3, n / 3}, {0, 1}, {n - 1, n}, {n / 3, n/3 + 1}, {n / 4, n / 2}, {n / 2, n}} {
					name := fmt.Sprintf("d=%d, all %v, k=%d, cells %d to %d of %d", d, all, k, part[0], part[1]-1, n)
					checkPart(t, name, whole, x, part[0], part[1], workers)
				}
			}
		}
	}
}

// checkPart compares the products of the cells lo to hi-1 with those of a whole pass of x.
func checkPart(t *testing.T, name string, whole *Pass, x []float64, lo, hi int, workers *par.Workers) {
	t.Helper()
	pass := NewPass(whole.Transfer, whole.k, workers.Count(), whole.kernels)
	for i := range pass.In {
		pass.In[i], pass.out[i] = math.NaN(), math.NaN()
	}
	from, to := pass.Sources(lo, hi)
	eachNode(pass, from, to, func(i int) { pass.In[i] = x[i] })
	pass.Restrict(lo, hi)
	if err := pass.Do(t.Context(), workers); err != nil {
		t.Fatal(err)
	}
	eachNode(pass, lo, hi, func(i int) {
		if pass.In[i] != whole.In[i] {
			t.Fatalf("%s: node %d has %g, want %g", name, i, pass.In[i], whole.In[i])
		}
	})
}

// eachNode visits the nodes of the cells lo to hi-1, of all columns.
func eachNode(pass *Pass, lo, hi int, visit func(i int)) {
	for c := range pass.k {
		for cell := lo; cell < hi; cell++ {
			for _, run := range pass.Runs() {
				for i := range pass.P {
					visit(c*pass.Nodes + pass.Base(cell) + run + i)
				}
			}
		}
	}
}
