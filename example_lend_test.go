package privatemail_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// One set of workers embeds rows and weighs the distances of their images.
func ExampleEngine_Lend() {
	features := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{
		1, 0, .9, .1, .8, .3,
		0, 1, .1, .9, .3, .8,
	}}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	images := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: make([]float32, 6*2)}
	if _, err := engine.Embed(context.Background(), features, nil, &privatemail.Settings{
		Graph: privatemail.Graph{Bandwidth: kernel.Sigma(0.3)}, Form: kernel.Attract, Into: images,
	}); err != nil {
		fmt.Println(err)
		return
	}
	op, err := kernel.Build(context.Background(), images, kernel.Sigma(0.3), &kernel.Options{Workers: engine.Lend()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(op.N(), "rows")
	// Output:
	// 6 rows
}

// The points of two calls, next to each other in one table of float32.
func ExampleSettings_into() {
	features := blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: []float32{
		1, 0, .9, .1, .8, .3,
		0, 1, .1, .9, .3, .8,
	}}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	table := make([]float32, 6*4)
	for i, labels := range [][]int32{{0, 0, 0, 1, 1, 1}, {0, 1, 0, 1, 0, 1}} {
		embedding, err := engine.Embed(context.Background(), features, labels, &privatemail.Settings{
			Graph: privatemail.Graph{Bandwidth: kernel.Sigma(0.3)}, Form: kernel.Attract, Coefficient: 3,
			Into: blas32.General{Rows: 6, Cols: 2, Stride: 4, Data: table[2*i:]},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(embedding.Points == nil, len(embedding.Trace), "step")
	}
	fmt.Printf("%.2f\n", table[:4])
	// Output:
	// true 1 step
	// true 1 step
	// [0.93 0.10 0.77 0.25]
}
