package kernel_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// The graph of four points within a radius, and how far it is from the full
// kernel: the weights 0-3 and 1-3, which it leaves out, are most of what the
// last point has.
func ExampleNewCSR() {
	points := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1, 2, 5}}
	op, err := kernel.NewCSR(context.Background(), points, kernel.Sigma(1), &kernel.Options{CutoffRadius: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer op.Close()
	for i, d := range op.Degrees() {
		fmt.Printf("point %d: degree %.4f, eta <= %.1g\n", op.Order()[i], d, op.Certificate().Eta(i))
	}
	// Output:
	// point 0: degree 0.7419, eta <= 0.01
	// point 1: degree 1.2131, eta <= 0.009
	// point 2: degree 0.7530, eta <= 7e-08
	// point 3: degree 0.0111, eta <= 2
}

func ExamplePlan() {
	points := blas32.General{Rows: 100, Cols: 1, Stride: 1, Data: make([]float32, 100)}
	for i := range points.Data {
		points.Data[i] = float32(i)
	}
	plan, err := kernel.Plan(context.Background(), points, kernel.Sigma(1), &kernel.Options{Calibration: new(kernel.Calibration)})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := plan[0]
	fmt.Printf("%s: %s\n", best.Name, best.Reason)
	fmt.Printf("half of the rows have a degree up to %.2f\n", best.Degrees.Quantiles[2])
	// Output:
	// dense: exact, every pair at every step, and quick
	// half of the rows have a degree up to 1.47
}

// Unit rows with a null record: the weights within the radius are those of the
// kernel, all others 0.3.
func ExampleNewBackground() {
	features := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{3, 4, 0, 1, -1, 0, 0, 0}}
	rows, err := kernel.NewUnitRows64(features, kernel.UnitOptions{Normalize: true, Nulls: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	op, err := kernel.NewBackground(context.Background(), rows, kernel.Sigma(1), 1.2, 0.3, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer op.Close()
	fmt.Printf("%.4f\n", op.Degrees())
	// Output: [1.7253 1.7253 1.2065 1.8196]
}
