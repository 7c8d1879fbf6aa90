package nearest_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// Leave one out: every row searches all others.
func ExampleWithin() {
	x := mat.NewDense(5, 2, []float64{0, 0, 0, 1, 4, 0, 4, 1, 2, 9})
	all := []int{0, 1, 2, 3, 4}
	index, _, err := nearest.Within(context.Background(), x.RawMatrix(), all, all, 2, nearest.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for q := range all {
		fmt.Println(q, index[2*q:2*q+2])
	}
	// Output:
	// 0 [1 2]
	// 1 [0 3]
	// 2 [3 0]
	// 3 [2 1]
	// 4 [1 3]
}
