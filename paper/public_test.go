package paper_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/paper"
)

func TestPublic(t *testing.T) {
	x := blas64.General{Rows: 3, Cols: 2, Stride: 3, Data: []float64{3, 4, 9, 0, 2, 9, -1, 0}}
	y := []int32{2, 0, 2}
	p, err := paper.NewPublic(x, y, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Features(); !slices.Equal(got.Data, []float64{0.6, 0.8, 0, 1, -1, 0}) {
		t.Errorf("rows %v", got.Data)
	}
	if p.Rows() != 3 || p.Dimension() != 2 || p.Classes() != 4 || !slices.Equal(p.OfClass(2), []int{0, 2}) || len(p.OfClass(1)) != 0 {
		t.Errorf("%d x %d, %d classes, class 2 %v", p.Rows(), p.Dimension(), p.Classes(), p.OfClass(2))
	}
	// Whatever is in the set is in the hash.
	seen := map[[32]byte]bool{p.Hash(): true}
	for _, change := range []func(){
		func() { x.Data[0] = 5 }, func() { y[1] = 1 }, func() { x.Rows, y = 2, y[:2] },
	} {
		change()
		other, err := paper.NewPublic(x, y, 4)
		if err != nil {
			t.Fatal(err)
		}
		if seen[other.Hash()] {
			t.Error("two sets have one hash")
		}
		seen[other.Hash()] = true
	}
	if !slices.Equal(p.Labels(), []int32{2, 0, 2}) {
		t.Errorf("labels changed to %v", p.Labels())
	}
}

func TestNewPublicRefuses(t *testing.T) {
	square := func(v ...float64) blas64.General { return blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: v} }
	for name, c := range map[string]struct {
		x       blas64.General
		y       []int32
		classes int
		want    error
	}{
		"none":           {blas64.General{}, nil, 1, kernel.ErrShape},
		"storage":        {blas64.General{Rows: 1 << 30, Cols: 2, Stride: 2}, nil, 1, kernel.ErrShape},
		"labels":         {square(1, 0, 0, 1), []int32{0}, 1, kernel.ErrShape},
		"no classes":     {square(1, 0, 0, 1), []int32{0, 0}, 0, kernel.ErrShape},
		"zero row":       {square(1, 0, 0, 0), []int32{0, 0}, 1, points.ErrZeroRow},
		"no number":      {square(1, 0, 0, math.NaN()), []int32{0, 0}, 1, kernel.ErrNonFinite},
		"label":          {square(1, 0, 0, 1), []int32{0, 1}, 1, kernel.ErrLabels},
		"negative label": {square(1, 0, 0, 1), []int32{0, -1}, 1, kernel.ErrLabels},
	} {
		if p, err := paper.NewPublic(c.x, c.y, c.classes); !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
