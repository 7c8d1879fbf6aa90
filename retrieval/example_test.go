package retrieval_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// One query of mode cells: the server publishes a codebook, the client names cells
// and ranks what comes back at home. Asking again for the same record sends the
// same request and spends nothing.
func Example_cells() {
	gallery := blas64.General{Rows: 96, Cols: 2, Stride: 2}
	for i := range gallery.Rows {
		angle := 2 * math.Pi * float64(i) / 96
		gallery.Data = append(gallery.Data, math.Cos(angle), math.Sin(angle))
	}
	s, err := server.NewCells(context.Background(), gallery, gallery, server.CellsSettings{Epsilon: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Both sides are this program. A client elsewhere has the hash of the codebook from
	// a second path, in place of UnconfirmedCodebook.
	c, err := client.NewCells(s.Codebook(), client.CellsSettings{
		UnconfirmedCodebook: true, Epsilon: 4, Ledger: mechanism.NoLedger, Memory: client.NewMemory(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	terms, err := c.Terms()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d cells are named, the record's own with probability %.2f\n", terms.Size, terms.Cells, terms.Inclusion)

	row := []float64{0.6, 0.8}
	record, err := client.ByContent(row)
	if err != nil {
		fmt.Println(err)
		return
	}
	request, err := c.Ask(record, row)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := s.Answer(request, wire.Float32)
	if err != nil {
		fmt.Println(err)
		return
	}
	base, err := c.NewBase(s.Base(wire.Float32))
	if err != nil {
		fmt.Println(err)
		return
	}
	matches, err := c.Rank(row, 3, request, answer, base)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := c.Ask(record, row)
	fmt.Println(len(matches), "matches; the same request again:", err == nil && slices.Equal(again.Cells, request.Cells))
	// Output:
	// 1 of 12 cells are named, the record's own with probability 0.83
	// 3 matches; the same request again: true
}

// The gallery in two spaces: cells are cut among the images Z of a map, and the rows X
// that labels have drawn together are ranked. A query has its image z for both.
func Example_supervised() {
	ctx := context.Background()
	engine, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	// Two classes that differ in the first column.
	gallery, labels := blas32.General{Rows: 96, Cols: 2, Stride: 2}, make([]int32, 96)
	for i := range gallery.Rows {
		labels[i] = int32(i % 2)
		gallery.Data = append(gallery.Data, 2*float32(labels[i])-1, float32(math.Sin(float64(i))))
	}
	recipe, err := supervised.ParseRecipe("classic,neighbours=5")
	if err != nil {
		log.Fatal(err)
	}
	model, err := supervised.Fit(ctx, engine, gallery, labels, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewCells(ctx, model.Z, model.X, server.CellsSettings{Epsilon: 8, Cells: 4, Share: 0.25})
	if err != nil {
		log.Fatal(err)
	}

	c, err := client.NewCells(s.Codebook(), client.CellsSettings{
		UnconfirmedCodebook: true, Epsilon: 8, Ledger: mechanism.NoLedger, Memory: client.NewMemory(),
	})
	if err != nil {
		log.Fatal(err)
	}
	base, err := c.NewBase(s.Base(wire.Float32))
	if err != nil {
		log.Fatal(err)
	}
	row := []float32{0.9, 0.1}
	record, err := client.ByContent(row) // the row itself, and not its image
	if err != nil {
		log.Fatal(err)
	}
	image, err := model.Map.Apply(blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: row})
	if err != nil {
		log.Fatal(err)
	}
	z := []float64{float64(image.Data[0]), float64(image.Data[1])}
	request, err := c.Ask(record, z)
	if err != nil {
		log.Fatal(err)
	}

	var line bytes.Buffer // in place of a network
	if _, err := s.WriteAnswer(&line, request, wire.Float32); err != nil {
		log.Fatal(err)
	}
	fmt.Println("as long as the codebook says:", int64(line.Len()) == s.Codebook().AnswerBytes(wire.Float32))

	var answer wire.CellsAnswer
	if err := answer.UnmarshalBinary(line.Bytes()); err != nil {
		log.Fatal(err)
	}
	matches, err := c.Rank(z, 3, request, &answer, base)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(matches), "matches")
	// Output:
	// as long as the codebook says: true
	// 3 matches
}

// What the share of the gallery in an answer costs, for a million rows of 64 numbers and
// clients that spend epsilon 4 on a query: the cells there are, how often the query's own
// is reported, the bytes of an answer in both encodings, and the memory of a server that has
// encoded all of them. The whole gallery, taken once and for no epsilon, is not much more.
func Example_shares() {
	const rows, columns, epsilon = 1_000_000, 64, 4
	fmt.Println("share  cells  own cell  answer   of int8  all answers, encoded")
	megabytes := func(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
	take := int64(0)
	for _, part := range []int{64, 32, 16, 8, 4} {
		cells, err := server.Centres(1/float64(part), epsilon)
		if err != nil {
			log.Fatal(err)
		}
		book := wire.Codebook{Rows: rows, Size: 1, Length: rows / part, Dimension: 1, Ranking: columns, Centres: make([]float32, cells), Anchors: make([]float32, columns)}
		own, err := mechanism.Subset{Items: cells, Size: 1, Epsilon: epsilon}.Inclusion()
		if err != nil {
			log.Fatal(err)
		}
		answer, compact := book.AnswerBytes(wire.Float32), book.AnswerBytes(wire.Int8)
		fmt.Printf("1/%-3d  %-5d  %.2f      %-7s  %-7s  %s\n", part, cells, own, megabytes(answer), megabytes(compact), megabytes(int64(cells)*(answer+compact)))
		take = book.AllRowsBytes()
	}
	fmt.Println("all rows, once:", megabytes(take))
	// Output:
	// share  cells  own cell  answer   of int8  all answers, encoded
	// 1/64   96     0.36      4.1 MB   1.1 MB   498.0 MB
	// 1/32   48     0.54      8.1 MB   2.3 MB   498.0 MB
	// 1/16   24     0.70      16.3 MB  4.5 MB   498.0 MB
	// 1/8    12     0.83      32.5 MB  9.0 MB   498.0 MB
	// 1/4    7      0.90      65.0 MB  18.0 MB  581.0 MB
	// all rows, once: 68.0 MB
}
