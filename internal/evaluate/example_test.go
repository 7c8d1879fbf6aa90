package evaluate_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// Two queries search four gallery rows on a line. The classes are 0 left of the
// origin and 1 right of it; the second query finds a stranger first.
func ExampleRanking_Score() {
	gallery := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{-2, -1, 1, 2}}
	galleryLabels := []int32{0, 0, 1, 1}
	queries := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{-1.4, -0.1}}
	queryLabels := []int32{0, 1}

	index, _, err := nearest.Rows(context.Background(), queries, gallery, 2, nearest.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	r := &evaluate.Ranking{K: 2, Index: index}
	fmt.Println(r.Row(0), r.Row(1))

	scores, err := r.Score(queryLabels, galleryLabels, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range scores.At {
		fmt.Println(f)
	}
	// Output:
	// [1 0] [1 2]
	// R@1 0.500  P@1 0.500
	// R@2 1.000  P@2 0.750
}

// How much of a neighbourhood survives when one of two coordinates is dropped?
func ExampleOverlap() {
	plane := mat.NewDense(4, 2, []float64{0, 0, 1, 3, 2, 0, 3, 3})
	line := mat.NewDense(4, 1, []float64{0, 1, 2, 3})
	all := []int{0, 1, 2, 3}
	ctx := context.Background()
	before, _, err := nearest.Within(ctx, plane.RawMatrix(), all, all, 1, nearest.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	after, _, err := nearest.Within(ctx, line.RawMatrix(), all, all, 1, nearest.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	share, err := evaluate.Overlap(&evaluate.Ranking{K: 1, Index: before}, &evaluate.Ranking{K: 1, Index: after}, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(before, after, share)
	// Output: [2 3 0 1] [1 0 1 2] 0
}

// The split of the published figures: 400 public rows of the 1797 digits, 1000
// to search, the rest as queries.
func ExampleNewSplit() {
	s, err := evaluate.NewSplit(1797, 400, 1000, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(s.Public), len(s.Gallery), len(s.Queries))
	fmt.Println(s.Public[:5])
	// Output:
	// 400 1000 397
	// [1002 1544 81 54 613]
}
