package iterate_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Two groups of points on a line; labels pull rows of a class together.
func ExampleRun() {
	ctx := context.Background()
	points := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1, 4, 5}}
	op, err := kernel.Build(ctx, points, kernel.Sigma(1), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer op.Close()
	labels, err := kernel.NewLabels([]int32{0, 0, 1, 1}, kernel.BalancedTable(), false)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1, 4, 5}}
	step := kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 1}
	result, err := iterate.Run(ctx, op, x, step, &iterate.Settings{Steps: 2}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f, %v\n", x.Data, result.Status)
	for _, r := range result.Trace {
		fmt.Printf("step %d: v = %.4f\n", r.Step, r.Objective)
	}
	// Output:
	// [0.510 0.528 4.472 4.490], step limit
	// step 1: v = 4.1617
	// step 2: v = 0.3036
}
