package spectral_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/spectral"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Three groups of points on a line have two eigenvectors besides the constant
// that separate them.
func ExampleConverge() {
	ctx := context.Background()
	points := blas32.General{Rows: 9, Cols: 1, Stride: 1, Data: []float32{0, 1, 2, 6, 7, 8, 12, 13, 14}}
	op, err := kernel.Build(ctx, points, kernel.Sigma(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer op.Close()
	settings := &spectral.ConvergeSettings{Dim: 2, UnitRows: true}
	out, err := spectral.Converge(ctx, op, kernel.Step{Form: kernel.Attract}, settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, eigenvalues %.2f\n", out.Status, out.Values)
	row := func(i int) []float32 { return out.Points.Data[2*i:][:2] }
	for _, i := range []int{1, 2, 3, 8} {
		cosine := row(0)[0]*row(i)[0] + row(0)[1]*row(i)[1]
		fmt.Printf("rows 0 and %d: same group %t\n", i, cosine > 0.5)
	}
	// Output:
	// converged, eigenvalues [1.00 1.00]
	// rows 0 and 1: same group true
	// rows 0 and 2: same group true
	// rows 0 and 3: same group false
	// rows 0 and 8: same group false
}
