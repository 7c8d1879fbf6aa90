package sensitivity_test

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Any of four rows may be private; then only the last one may be, and the
// others are public.
func ExampleQuery_Tight() {
	q := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 0, .5, -1, -.25, .75, 2, 1}}
	query := sensitivity.Query{
		Operator: sensitivity.Full{},
		Sigma:    6,
		Alpha:    0.6,
		Table:    sensitivity.Gaussian{Classes: 98, Sigma: 6},
	}
	any1, err := query.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("any row:   ", any1)
	last, err := query.Known(context.Background(), sensitivity.ReplaceOne, q, sensitivity.Public{
		Row:      3,
		Features: blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1, .6, .8}},
		Labels:   []int32{0, 50, 97},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("known row: ", last)

	// A step computed in float64 differs from the exact one by rounding.
	eta, err := query.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	computed, err := any1.Inflate(eta)
	fmt.Println(computed.ErrorStated(), computed.Value() > any1.Value(), err)

	// A kernel cut at a radius has no bound; with a constant beyond the radius
	// it has one.
	query.Operator = sensitivity.Truncated{Radius: 1}
	_, err = query.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	fmt.Println(errors.Is(err, sensitivity.ErrNoBound))
	query.Operator = sensitivity.Midpoint(6, 1)
	cut, err := query.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	fmt.Printf("%.4f %s %v\n", cut.Value(), cut.Derivation(), err)
	// Output:
	// any row:    0.772032 (replace-one, full kernel, theorem-1)
	// known row:  0.414838 (replace-one, full kernel, theorem-2)
	// true true <nil>
	// true
	// 0.7373 background <nil>
}

// The paper's constant is a number to print, not a bound to calibrate with.
func ExampleQuery_Paper() {
	q := blas64.General{Rows: 1001, Cols: 1, Stride: 1, Data: make([]float64, 1001)}
	for i := range q.Data {
		q.Data[i] = float64(i%7) - 3
	}
	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 6, Alpha: 0.6, Table: sensitivity.Gaussian{Classes: 98, Sigma: 6}}
	paper, err := query.Paper(q)
	if err != nil {
		fmt.Println(err)
		return
	}
	corrected, err := query.Corrected(sensitivity.Null, q)
	if err != nil {
		fmt.Println(err)
		return
	}
	tight, err := query.Tight(sensitivity.Null, q, sensitivity.Rows{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("paper      %.4g, M = %.4f, proved: %v\n", paper.Delta, paper.M, paper.Proved())
	fmt.Printf("corrected  %.4g, M = %.4f\n", corrected.Value(), corrected.M)
	fmt.Printf("tight      %.4g\n", tight.Value())
	// Output:
	// paper      809.4, M = 0.8086, proved: false
	// corrected  900.1, M = 0.8085
	// tight      0.981
}
