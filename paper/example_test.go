package paper_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/paper"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// One question of Algorithm 1, from the record to its matches. What is sent is
// the message; what comes back says little about the record, as it should.
func Example() {
	ctx := context.Background()
	// Rows on a circle, in three classes; both sides know the first half.
	rows := func(first, n int) (blas64.General, []int32) {
		x, y := blas64.General{Rows: n, Cols: 2, Stride: 2}, make([]int32, n)
		for i := range n {
			y[i] = int32(i % 3)
			angle := float64(2*y[i]) + 0.01*float64(first+i)
			x.Data = append(x.Data, math.Cos(angle), math.Sin(angle))
		}
		return x, y
	}
	x, y := rows(0, 30)
	public, err := paper.NewPublic(x, y, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := privatemail.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	method := paper.DefaultMethod()

	galleryRows, galleryLabels := rows(30, 30)
	s, err := paper.NewServer(ctx, engine, paper.Rows{Features: galleryRows, Labels: galleryLabels}, public, method, 4, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := paper.NewClient(engine, public, method, paper.ClientSettings{
		Epsilon: 1, Delta: 1e-5, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	record := paper.Record{Features: []float64{0.6, 0.8}, Label: 0}
	question, read, err := c.Ask(ctx, record, mechanism.Unit{Kind: release.UnitRecord, Name: "photo 7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := s.Answer(ctx, question)
	if err != nil {
		fmt.Println(err)
		return
	}
	matches, err := read(answer)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d rows are shown, %d of them hidden; %d matches\n", question.Release.Rows, answer.Hidden, len(matches))
	// Output:
	// 34 rows are shown, 4 of them hidden; 4 matches
}
