package kernel

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// The memory of a closed graph is that of the next, whatever was left in it.
func TestSlabsAreUsedAgain(t *testing.T) {
	p := pointtest.Make("uniform", 40_000, 2, 11)
	b, radius, err := bandwidthForDegree(t.Context(), p, 250, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := pointtest.Make("uniform", p.Rows, 2, 12)
	var want blas32.General
	var before [][]float32 // rows of the graph before, all of them NaN when it was closed
	again := false         // some weights are where others have been
	for round := 0; round < 2 || round < 20 && !again; round++ {
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{CutoffRadius: radius}))
		if err != nil {
			t.Fatal(err)
		}
		if len(op.Slabs) == 0 {
			t.Fatalf("%d weights in no slab of %d", op.Weights.NNZ(), rows.MostSlab)
		}
		got := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: make([]float32, len(x.Data))}
		if err := op.Apply(t.Context(), got, x); err != nil {
			t.Fatal(err)
		}
		if want.Data == nil {
			want = got
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Fatal("another product after the graph was built again")
		}
		for _, val := range before {
			again = again || slices.ContainsFunc(val, func(v float32) bool { return v == v })
		}
		before = before[:0]
		for i := range op.Weights.Rows() {
			ind, val := op.Weights.Row(i, nil)
			for e := range ind {
				ind[e], val[e] = math.MaxUint32, float32(math.NaN())
			}
			before = append(before, val)
		}
		if err := op.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !again {
		t.Error("no graph was stored where another had been")
	}
}

// Weights that were repaired are elsewhere: nobody holds the memory of the others.
func TestRepairedGraphsHoldNoSlabs(t *testing.T) {
	p := pointtest.Make("uniform", 40_000, 2, 11)
	b, radius, err := bandwidthForDegree(t.Context(), p, 250, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.Cols {
		p.Data[c] = 1 + 2*float32(radius) // away from all others
	}
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Isolated: Repair}))
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if op.Certificate().Isolated > 0 || len(op.Slabs) > 0 {
		t.Errorf("%d isolated rows, %d slabs", op.Certificate().Isolated, len(op.Slabs))
	}
}

// What a compact layout does not keep, or keeps beyond the search, is nobody else's.
func TestCompactGraphsKeepTheirMemory(t *testing.T) {
	p := pointtest.Make("uniform", 40_000, 2, 11)
	b, radius, err := bandwidthForDegree(t.Context(), p, 250, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Layout: sparse.Compact}))
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if len(op.Slabs) > 0 {
		t.Errorf("%d slabs of a compact graph to use again", len(op.Slabs))
	}
}
