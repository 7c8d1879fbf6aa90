package privatemail_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The density around each row: the sum of its weights, including its own.
func ExampleEngine_Kernel() {
	features := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{0, 0, 0, 1, 1, 0, 9, 9}}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	k, err := engine.Kernel(context.Background(), features, &privatemail.KernelSettings{Graph: privatemail.Graph{Bandwidth: kernel.Sigma(1)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	ones := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 1, 1, 1}}
	density := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: make([]float32, 4)}
	if err := k.Apply(context.Background(), density, ones); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", density.Data)
	// Output:
	// [2.213 1.974 1.974 1.000]
}

// The two nearest rows of each row, and their distances.
func ExampleEngine_Nearest() {
	features := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1, 3, 7}}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	ids, distances := make([]int64, 8), make([]float32, 8)
	if err := engine.Nearest(context.Background(), features, blas32.General{}, 2, ids, distances); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids, distances)
	// Output:
	// [1 2 0 2 1 0 2 1] [1 3 1 2 2 3 4 6]
}
