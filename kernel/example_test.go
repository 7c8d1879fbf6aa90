package kernel_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// The graph of four points within a radius, and how far it is from the full
// kernel: the weights 0-3 and 1-3, which it leaves out, are most of what the
// last point has.
func ExampleTruncated() {
	points := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1, 2, 5}}
	op, err := kernel.Build(context.Background(), points, kernel.Sigma(1), &kernel.Options{Operator: "csr", CutoffRadius: 3})
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

// One step of the iteration: four points of two classes, and how far the classes are
// drawn together.
func ExampleBuild() {
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
	// Rows are in the operator's order throughout; that of dense is the given one.
	if labels, err = labels.Permute(op.Order()); err != nil {
		fmt.Println(err)
		return
	}
	var stats kernel.Stats
	if err := stats.Gather(points, labels); err != nil {
		fmt.Println(err)
		return
	}
	next := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: make([]float32, 4)}
	step := &kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 2}
	if err := op.Step(ctx, next, points, step, &stats); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: objective %.3f, next %.3f\n", op.Name(), stats.Objective, next.Data)
	// Output:
	// dense: objective 6.162, next [0.500 0.513 4.487 4.500]
}

// Labels that are grades: rows of grades next to each other have half the weight of
// equal ones.
func ExampleTableFunc() {
	grades := kernel.TableFunc("grades", func(a, b int32) float64 {
		return max(0, 1-math.Abs(float64(a)-float64(b))/2)
	})
	labels, err := kernel.NewLabels([]int32{1, 1, 2, 5}, grades, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range labels.N() {
		fmt.Println(labels.Degree(i))
	}
	// Output:
	// 1.5
	// 1.5
	// 1
	// 0
}

func ExamplePoints_Plan() {
	points := blas32.General{Rows: 100, Cols: 1, Stride: 1, Data: make([]float32, 100)}
	for i := range points.Data {
		points.Data[i] = float32(i)
	}
	opened, err := kernel.Open(points, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := opened.Plan(context.Background(), kernel.Sigma(1), nil)
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
func ExampleUnitRows_Background() {
	features := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{3, 4, 0, 1, -1, 0, 0, 0}}
	rows, err := kernel.NewUnitRows(features, kernel.UnitOptions{Normalize: true, Nulls: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	op, err := rows.Background(context.Background(), kernel.Sigma(1), 1.2, 0.3, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer op.Close()
	fmt.Printf("%.4f\n", op.Degrees())
	// Output: [1.7253 1.7253 1.2065 1.8196]
}
