package supervised_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

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
	gallery := mat.NewDense(6, 2, []float64{-1, -3, -1, 0, -1, 3, 1, -3, 1, 0, 1, 3.5})
	labels := []int32{0, 0, 0, 1, 1, -1}
	fit, err := supervised.Fit(context.Background(), e, gallery.RawMatrix(), labels, &supervised.Settings{MeanNeighbours: 2})
	if err != nil {
		log.Fatal(err)
	}
	query, err := fit.Map.Apply(mat.NewDense(1, 2, []float64{1, 2}).RawMatrix())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("query   %6.3f\n", query.RawRowView(0))
	for i, label := range labels {
		fmt.Printf("%2d %6.3f -> %6.3f\n", label, fit.Z.RawRowView(i), fit.X.RawRowView(i))
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
