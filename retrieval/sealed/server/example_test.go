package server_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
)

// A client finds the row nearest to its own, and the server does not learn which.
func Example() {
	ctx := context.Background()
	rows := blas64.General{Rows: 5, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1, -1, 0, 0, -1, .6, .8}}
	gallery, err := server.New(ctx, rows, server.Settings{Cells: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer gallery.Close()

	c, err := client.New(gallery.Manifest(), gallery.Hint(), client.Settings{Epoch: gallery.Epoch()})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.SetIDs(gallery.IDs()); err != nil {
		log.Fatal(err)
	}
	queries, err := c.Ask(ctx, blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{.8, .6}})
	if err != nil {
		log.Fatal(err)
	}
	answers, err := gallery.Answer(ctx, queries[0].Request())
	if err != nil {
		log.Fatal(err)
	}
	matches, err := c.Rank(queries[0], answers[0], 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range matches {
		fmt.Printf("row %d at %.1f\n", m.ID, m.Distance)
	}
	// Output:
	// row 4 at 0.3
	// row 0 at 0.6
}
