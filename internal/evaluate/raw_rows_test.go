package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/par"
)

// SearchRaw finds what a sort of all distances between rows of the file finds, by their
// places in the gallery, also for the first queries alone.
func TestSearchRaw(t *testing.T) {
	d := toyData(t)
	p, err := NewProblem(d, 3)
	if err != nil {
		t.Fatal(err)
	}
	split, err := d.Division.Split(d.Labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	row := func(i int) []float32 { return d.Features.Data[i*d.Features.Stride:][:d.Features.Cols] }
	distance := func(a, b int) (s float64) {
		for j, v := range row(a) {
			s += math.Pow(float64(v)-float64(row(b)[j]), 2)
		}
		return s
	}
	queries := p.Queries.Slice(0, 7, 0, 8).(*mat.Dense)
	workers := par.New(2)
	defer workers.Close()
	r, err := (&Task{Problem: p, Queries: queries, Workers: workers}).SearchRaw(t.Context())
	if err != nil || r.Queries() != 7 || r.K != DeepLength {
		t.Fatalf("%+v, %v", r, err)
	}
	for q := range 7 {
		order := upTo(len(split.Gallery))
		slices.SortStableFunc(order, func(a, b int) int {
			if distance(split.Queries[q], split.Gallery[a]) < distance(split.Queries[q], split.Gallery[b]) {
				return -1
			}
			return 1
		})
		if !slices.Equal(r.Row(q), order[:DeepLength]) {
			t.Errorf("query %d: %v, want %v", q, r.Row(q), order[:DeepLength])
		}
	}
}

// A scale of one column changes what is near, and nothing else may.
func TestSearchRawSeesTheScale(t *testing.T) {
	d := toyData(t)
	search := func() []int {
		p, err := NewProblem(d, 3)
		if err != nil {
			t.Fatal(err)
		}
		r, err := (&Task{Problem: p, Queries: p.Queries}).SearchRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Index
	}
	before := search()
	for i := range d.Features.Data {
		d.Features.Data[i] *= 2
	}
	if !slices.Equal(search(), before) {
		t.Error("a common factor changed the order")
	}
	for i := 0; i < len(d.Features.Data); i += d.Features.Stride {
		d.Features.Data[i] *= 1024
	}
	if slices.Equal(search(), before) {
		t.Error("a column of other units changed nothing")
	}
}

func TestSearchRawRefuses(t *testing.T) {
	rows := Part{mat.NewDense(9, 1, nil), make([]int32, 9)}
	p, err := Assemble("made", 1, rows, rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	var missing *UnavailableError
	if _, err := (&Task{Problem: p, Queries: p.Queries}).SearchRaw(t.Context()); !errors.As(err, &missing) {
		t.Errorf("rows that were never raw: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err = NewProblem(toyData(t), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Task{Problem: p, Queries: p.Queries}).SearchRaw(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestGalleryOfFewRows(t *testing.T) {
	d := toyData(t)
	d.Division = Division{Public: 60, Gallery: 7}
	if _, err := NewProblem(d, 1); !errors.Is(err, ErrShape) {
		t.Errorf("7 rows for answers of 8: %v", err)
	}
	d.Division.Gallery = 8
	if _, err := NewProblem(d, 1); err != nil {
		t.Error(err)
	}
}

// upTo returns 0, 1, .. n-1.
func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
