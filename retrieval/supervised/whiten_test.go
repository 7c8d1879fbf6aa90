package supervised_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Distances between images are those of the symmetric root R^(-1/2), which is unique and
// takes many times as long.
func TestWhitenHasTheDistancesOfTheSymmetricRoot(t *testing.T) {
	const n, d = 80, 12
	x, labels := labelledRows(n, d, 41)
	for _, ridge := range []float64{0.01, 1} {
		m, err := (supervised.Recipe{Projection: supervised.Whiten, Ridge: ridge}).NewMap(t.Context(), single(x), labels)
		if err != nil {
			t.Fatal(err)
		}
		z, err := m.Apply(single(x))
		if err != nil {
			t.Fatal(err)
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(ridged(x, labels, ridge), true) {
			t.Fatal("no eigenvectors")
		}
		var vectors, root, want mat.Dense
		eigen.VectorsTo(&vectors)
		scaled := mat.DenseCopyOf(&vectors)
		values := eigen.Values(nil)
		scaled.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[j]) }, scaled)
		root.Mul(scaled, vectors.T())
		want.Mul(x, &root)
		got := double(z)
		for i := range n {
			for j := range i {
				a, b := distance(got, i, j), distance(&want, i, j)
				if math.Abs(a-b) > 1e-4*b {
					t.Fatalf("ridge %g: rows %d and %d are %g apart, want %g", ridge, i, j, a, b)
				}
			}
		}
	}
}

func distance(x *mat.Dense, i, j int) float64 {
	var diff mat.VecDense
	diff.SubVec(x.RowView(i), x.RowView(j))
	return mat.Norm(&diff, 2)
}
