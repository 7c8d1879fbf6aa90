package privatemail_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Six rows of two classes; the last row of each has no label and follows its
// neighbours.
func Example() {
	features := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{
		1, 0, .9, .1, .8, .3,
		0, 1, .1, .9, .3, .8,
	}}
	labels := []int32{0, 0, -1, 1, 1, -1}

	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	embedding, err := engine.Embed(context.Background(), features, labels, &privatemail.Settings{
		Graph: privatemail.Graph{Bandwidth: kernel.Sigma(0.3), NormalizeRows: true}, Form: kernel.Attract, Coefficient: 3, AllowUnlabelled: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, label := range labels {
		fmt.Printf("label %2d: %.2f %.2f\n", label, embedding.Points.At(i, 0), embedding.Points.At(i, 1))
	}
	fmt.Println(embedding.Graph.Operator, embedding.Graph.Certificate.Kind)
	// Output:
	// label  0: 0.99 0.07
	// label  0: 0.99 0.08
	// label -1: 0.96 0.22
	// label  1: 0.07 0.99
	// label  1: 0.08 0.99
	// label -1: 0.22 0.96
	// dense exact
}

// The cost of a run, before it starts.
func ExampleEngine_Plan() {
	features := blas32.General{Rows: 5000, Cols: 1, Stride: 1, Data: make([]float32, 5000)}
	for i := range features.Data {
		features.Data[i] = float32(i)
	}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	plan, err := engine.Plan(context.Background(), features, &privatemail.Settings{Graph: privatemail.Graph{Bandwidth: kernel.Sigma(0.3)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := plan.Candidates[0]
	fmt.Printf("%s: %s\n", best.Name, best.Reason)
	// Output:
	// csr: about 1.996 stored neighbours a row within 1.687
}

// Two classes end at two places, and rows without a label where their neighbours are.
func ExampleEngine_Converge() {
	features := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{
		1, 0, .9, .1, .8, .3,
		0, 1, .1, .9, .3, .8,
	}}
	labels := []int32{0, 0, -1, 1, 1, -1}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	m, err := engine.Converge(context.Background(), features, labels, &privatemail.ConvergeSettings{
		Graph: privatemail.Graph{Bandwidth: kernel.Sigma(0.3), NormalizeRows: true}, Coefficient: 3, AllowUnlabelled: true, Dim: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Status)
	for i, label := range labels { // the sign of an eigenvector is arbitrary
		fmt.Printf("label %2d: %.2f from the first row\n", label, math.Abs(m.Points.At(i, 0)-m.Points.At(0, 0)))
	}
	// Output:
	// converged
	// label  0: 0.00 from the first row
	// label  0: 0.00 from the first row
	// label -1: 0.00 from the first row
	// label  1: 2.00 from the first row
	// label  1: 2.00 from the first row
	// label -1: 2.00 from the first row
}
