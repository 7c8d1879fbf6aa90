package privatemail_test

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// What a private first step needs, before any data is read: 1001 rows, 98
// classes, the paper's parameters.
func ExampleSensitivity() {
	a, err := privatemail.Sensitivity(context.Background(), 1001, 64, &privatemail.PrivateSettings{
		Epsilon: 0.1, Delta: 1e-5, Relation: sensitivity.ReplaceOne,
		Bandwidth: kernel.Sigma(6), Alpha: 0.6, Table: "gaussian", Classes: 98, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("tight %.4g, corrected %.4g, paper %.4g (proved: %v)\n", a.Tight.Value(), a.Corrected.Frobenius, a.Paper.Delta, a.Paper.Proved())
	fmt.Printf("noise %.4g, signal %.4g\n", a.Calibration.Sigma(), a.Signal)
	// Output:
	// tight 1.218e-08, corrected 6.404e-06, paper 5.759e-06 (proved: false)
	// noise 3.747e-07, signal 5.466e-09
}

// The published program passes the variance of the classical rule where a
// standard deviation is wanted. Two errors then nearly cancel for the kernel of
// the paper: its constant is too large, its noise too small. (For the label
// matrix the program really uses there is no bound at all.)
func ExampleSensitivity_published() {
	const epsilon, delta = 0.1, 1e-5
	a, err := privatemail.Sensitivity(context.Background(), 1001, 64, &privatemail.PrivateSettings{
		Relation: sensitivity.ReplaceOne, Bandwidth: kernel.Sigma(6), Alpha: 0.6, Table: "gaussian", Classes: 98, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	deviation := math.Sqrt(2*math.Log(1.25/delta)) * a.Paper.Delta / epsilon
	fmt.Printf("the rule gives %.3g, the program adds noise of %.3g, %.0f times less\n", deviation, deviation*deviation, 1/deviation)
	real, err := mechanism.EpsilonAt(a.Tight.Value()/(deviation*deviation), delta)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("by the tight bound that is epsilon %.2f, not %g\n", real, epsilon)
	// Output:
	// the rule gives 0.000279, the program adds noise of 7.78e-08, 3584 times less
	// by the tight bound that is epsilon 0.56, not 0.1
}
