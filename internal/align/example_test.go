package align_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/align"
)

// The second triangle is the first one, turned by a right angle, twice as large
// and moved.
func ExampleFind() {
	from := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{0, 0, 1, 0, 0, 2}}
	to := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{5, 1, 5, 3, 1, 1}}
	s, err := align.Find(from, to)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("scale %.3f, translation %.3f\n", s.Scale, s.Translation)
	image, err := s.Apply(blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 1}})
	fmt.Printf("%.3f %v\n", image.Data, err)
	// Output:
	// scale 2.000, translation [5.000 1.000]
	// [3.000 3.000] <nil>
}
