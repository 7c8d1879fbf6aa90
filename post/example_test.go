package post_test

import (
	"bytes"
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Anyone with the bytes of a release can continue from it, without the features.
func ExampleContinue() {
	r, err := release.Read(bytes.NewReader(received()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon %g, delta %g, labels %s\n", r.Privacy.Epsilon, r.Privacy.Delta, r.Labels.Mode)
	embedding, err := post.Continue(context.Background(), r, nil, &post.Settings{MeanNeighbours: 3, Steps: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, k := embedding.Points.Dims()
	fmt.Printf("%d x %d after %d more steps\n", n, k, len(embedding.Trace))
	// Output:
	// epsilon 1, delta 1e-06, labels dropped
	// 6 x 2 after 2 more steps
}

// received is a release sent by the owner of the features.
func received() []byte {
	features := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{1, 0, .6, .8, .8, .6, 0, 1, -.6, .8, -.8, .6}}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return nil
	}
	defer engine.Close()
	r, err := engine.Privatize(context.Background(), features, nil, &privatemail.PrivateSettings{
		Epsilon: 1, Delta: 1e-6, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped,
		Ledger: mechanism.NoLedger, Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "album"},
		Bandwidth: kernel.Sigma(1), SigmaQ: 1, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return nil
	}
	data, err := r.MarshalBinary()
	if err != nil {
		fmt.Println(err)
	}
	return data
}
