package server_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A server of mode cells publishes a codebook and answers with the lists of the
// cells that are named. Package retrieval has both sides together.
func ExampleCells() {
	gallery := blas64.General{Rows: 96, Cols: 2, Stride: 2}
	for i := range gallery.Rows {
		angle := 2 * math.Pi * float64(i) / 96
		gallery.Data = append(gallery.Data, math.Cos(angle), math.Sin(angle))
	}
	s, err := server.NewCells(context.Background(), gallery, gallery, server.CellsSettings{Epsilon: 4})
	if err != nil {
		log.Fatal(err)
	}
	book := s.Codebook()
	hash, err := book.Hash()
	if err != nil {
		log.Fatal(err)
	}
	answer, err := s.Answer(&wire.CellsRequest{Codebook: hash, Cells: []uint32{3}}, wire.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("one of %d cells, a list of %d rows of the gallery\n", book.Cells(), answer.Length)
	// Output:
	// one of 12 cells, a list of 12 rows of the gallery
}
