package jb

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	jbsparse "github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// random returns a matrix with about a third of its entries, some rows empty.
func random(t *testing.T, rng *rand.Rand, rows, cols int) *sparse.CSR {
	t.Helper()
	ptr, ind, val := []uint64{0}, []uint32(nil), []float32(nil)
	for range rows {
		for j := range cols {
			if rng.IntN(3) == 0 {
				ind, val = append(ind, uint32(j)), append(val, float32(rng.NormFloat64()))
			}
		}
		ptr = append(ptr, uint64(len(ind)))
	}
	a, err := sparse.New(rows, cols, ptr, ind, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A matrix survives the round trip unchanged, from every layout, and its products are
// those of james-bowman/sparse.
func TestRoundTripAndProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rows, cols, k := 1+rng.IntN(20), 1+rng.IntN(20), 1+rng.IntN(9)
		a := random(t, rng, rows, cols)
		compact, err := a.Convert(t.Context(), nil, sparse.Compact)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*sparse.CSR{a, compact} {
			back, err := Import(Export(m))
			if err != nil {
				t.Fatal(err)
			}
			if back.NNZ() != a.NNZ() || !mat.Equal(back, a) {
				t.Fatal("the round trip changed the matrix")
			}
		}
		x := blas32.General{Rows: cols, Cols: k, Stride: k, Data: make([]float32, cols*k)}
		wide := mat.NewDense(cols, k, nil)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
			wide.Set(i/k, i%k, float64(x.Data[i]))
		}
		got := blas32.General{Rows: rows, Cols: k, Stride: k, Data: make([]float32, rows*k)}
		if err := a.MulTo(t.Context(), nil, nil, got, x); err != nil {
			t.Fatal(err)
		}
		var want mat.Dense
		want.Mul(Export(a), wide)
		for i, v := range got.Data {
			if w := want.At(i/k, i%k); math.Abs(float64(v)-w) > 1e-5*(1+math.Abs(w)) {
				t.Fatalf("(%d, %d) = %g, james-bowman/sparse has %g", i/k, i%k, v, w)
			}
		}
	}
}

func TestImportSortsAndAdds(t *testing.T) {
	m := jbsparse.NewCSR(2, 3, []int{0, 3, 4}, []int{2, 0, 2, 1}, []float64{1, 5, 2, 7})
	a, err := Import(m)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a, mat.NewDense(2, 3, []float64{5, 0, 3, 0, 7, 0})) {
		t.Errorf("got %v", mat.Formatted(a))
	}
	for _, bad := range []*jbsparse.CSR{
		jbsparse.NewCSR(2, 3, []int{0, 3, 4}, []int{2, 0, 3, 1}, []float64{1, 5, 2, 7}),
		jbsparse.NewCSR(2, 3, []int{0, 5, 4}, []int{2, 0, 2, 1}, []float64{1, 5, 2, 7}),
		jbsparse.NewCSR(2, 3, []int{1, 2, 4}, []int{2, 0, 2, 1}, []float64{1, 5, 2, 7}),
	} {
		if _, err := Import(bad); !errors.Is(err, sparse.ErrStructure) {
			t.Errorf("err = %v", err)
		}
	}
}
