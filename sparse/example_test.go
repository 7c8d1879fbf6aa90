package sparse_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/sparse"
)

func ExampleCSR_MulTo() {
	a, err := sparse.New(3, 3,
		[]uint64{0, 1, 3, 3}, // row pointers
		[]uint32{1, 0, 2},    // columns
		[]float32{5, 7, 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	y := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 6)}
	if err := a.MulTo(context.Background(), nil, nil, y, x); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.Data)
	// Output: [15 20 47 62 0 0]
}
