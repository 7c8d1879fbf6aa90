package mechanism_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A step of four rows is released: bound, calibration, noise.
func Example() {
	q := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 0, .5, -1, -.25, .75, 2, 1}}
	query := sensitivity.Query{
		Operator: sensitivity.Full{},
		Sigma:    6,
		Alpha:    0.6,
		Table:    sensitivity.Gaussian{Classes: 10, Sigma: 6},
	}
	bound, err := query.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	if err != nil {
		fmt.Println(err)
		return
	}
	eta, err := query.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	if bound, err = bound.Inflate(eta); err != nil {
		fmt.Println(err)
		return
	}
	reach, err := query.Displacement(q)
	if err != nil {
		fmt.Println(err)
		return
	}

	// All of this is known before any data is touched.
	c, err := mechanism.Calibrate(mechanism.CalibrationSettings{Epsilon: 1, Delta: 1e-6, Sensitivity: bound, Reach: reach})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("sensitivity %.4f, noise %.4f, %.4f times as much\n", c.L2Sensitivity(), c.Sigma(), c.Sigma()/c.L2Sensitivity())
	fmt.Printf("mu %.4f, rho %.4f\n", c.Mu(), c.Rho())

	// The displacement f - Q would come from the engine.
	out, err := c.Privatize(context.Background(), mechanism.NoLedger, mechanism.FirstStep{
		Displacement: blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: make([]float64, 8)},
		Query:        release.Query{Sigma: 6, Alpha: 0.6, Table: "gaussian", Classes: 10, SigmaQ: 1, Seed: 1},
		Unit:         mechanism.Unit{Kind: release.UnitRecord, Name: "image 17", New: true},
		Labels:       mechanism.LabelSettings{Mode: release.ModeDropped},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Rows, "x", out.Columns, out.Privacy.Rule, out.Sensitivity.Relation)
	// Output:
	// sensitivity 0.5469, noise 2.3107, 4.2247 times as much
	// mu 0.2367, rho 0.0280
	// 4 x 2 analytic replace-one
}

// The least noise, the classical formula, and an epsilon for which that is
// refused.
func ExampleRule_Multiplier() {
	for _, epsilon := range []float64{0.1, 0.5, 1} {
		analytic, err := mechanism.Analytic.Multiplier(epsilon, 1e-5)
		if err != nil {
			fmt.Println(err)
			return
		}
		classical, err := mechanism.Classical.Multiplier(epsilon, 1e-5)
		fmt.Printf("%.1f: %.3f %.3f %v\n", epsilon, analytic, classical, err)
	}
	// Output:
	// 0.1: 30.750 48.448 <nil>
	// 0.5: 7.032 9.690 <nil>
	// 1.0: 3.731 0.000 mechanism: Epsilon = 1: want below 1 for the classical rule; the analytic rule has no such limit
}

// A hundred releases at (0.1, 1e-6) each.
func ExampleEpsilonAt() {
	c, err := mechanism.Analytic.Multiplier(0.1, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	epsilon, err := mechanism.EpsilonAt(10/c, 1e-5) // mu adds in squares
	fmt.Printf("%.4f %v\n", epsilon, err)
	// Output:
	// 1.0303 <nil>
}
