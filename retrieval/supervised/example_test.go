package supervised_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// The classes differ along the first axis, rows within a class along the second.
// The map shrinks the second; the step draws equal labels together.
func ExampleFit() {
	e, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	gallery := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{-1, -3, -1, 0, -1, 3, 1, -3, 1, 0, 1, 3.5}}
	labels := []int32{0, 0, 0, 1, 1, -1}
	recipe, err := supervised.ParseRecipe("classic,neighbours=2")
	if err != nil {
		log.Fatal(err)
	}
	fit, err := supervised.Fit(context.Background(), e, gallery, labels, &supervised.Settings{Recipe: &recipe})
	if err != nil {
		log.Fatal(err)
	}
	query, err := fit.Map.Apply(blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("query   %6.3f\n", query.Data)
	for i, label := range labels {
		fmt.Printf("%2d %6.3f -> %6.3f\n", label, fit.Z.Data[2*i:][:2], fit.X.Data[2*i:][:2])
	}
	// Output:
	// query   [ 0.670  0.742]
	//  0 [-0.490 -0.872] -> [-0.844 -0.536]
	//  0 [-0.999 -0.048] -> [-0.996 -0.084]
	//  0 [-0.511  0.860] -> [-0.850  0.526]
	//  1 [ 0.490 -0.872] -> [ 0.781 -0.625]
	//  1 [ 0.999 -0.048] -> [ 0.869 -0.495]
	// -1 [ 0.452  0.892] -> [ 0.138  0.990]
}
