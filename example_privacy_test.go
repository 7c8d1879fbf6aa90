package privatemail_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A release of six rows with public labels, and the later steps, which need
// nothing private.
func ExampleEngine_Privatize() {
	// Six rows of unit norm; labels are public, features are not.
	features := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{1, 0, .6, .8, .8, .6, 0, 1, -.6, .8, -.8, .6}}
	labels := []int32{0, 0, 0, 1, 1, 1}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	r, err := engine.Privatize(context.Background(), features, labels, &privatemail.PrivateSettings{
		Epsilon: 1, Delta: 1e-6, Relation: sensitivity.FeaturesReplace, LabelMode: release.ModePublic,
		Ledger: mechanism.NoLedger, Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "album", New: true},
		Bandwidth: kernel.Sigma(6), Alpha: 0.6, Classes: 2, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d x %d, noise %.3g for a sensitivity of %.3g\n", r.Rows, r.Columns, r.Privacy.Sigma, r.Sensitivity.Total)
	public, err := release.Declare(labels, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	embedding, err := engine.Continue(context.Background(), r, public, &post.Settings{Steps: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(embedding.Points.Dims())
	// Output:
	// 6 x 2, noise 2.17e-09 for a sensitivity of 5.13e-10
	// 6 2
}

// The noise of a private first step, before any data is read: 1001 rows, 98
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
// standard deviation is expected. Two errors then nearly cancel for the kernel
// of the paper: its constant is too large, its noise too small. (For the label
// matrix that the program really uses there is no bound at all.)
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
