package kernel

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// Memory of the caller's gets what Nearest returns, whatever it held, and is not asked for.
func TestNearestInto(t *testing.T) {
	const k = 6
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{2, 9} {
			x := pointtest.Make(kind, 140, d, uint64(d))
			asked := [2]int64{}
			count := func(to *int64) *Options {
				return &Options{Reserve: func(bytes int64) bool { *to = max(*to, bytes); return true }}
			}
			want, err := Nearest(t.Context(), x, k, count(&asked[0]))
			if err != nil {
				t.Fatal(err)
			}
			got := &Neighbours{K: k, Rows: slices.Repeat([]uint32{math.MaxUint32}, x.Rows*k), Dist2: slices.Repeat([]float64{math.NaN()}, x.Rows*k)}
			rows, dist2 := got.Rows, got.Dist2
			if err := NearestInto(t.Context(), x, got, count(&asked[1])); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rows, want.Rows) || !slices.Equal(dist2, want.Dist2) {
				t.Errorf("%s, %d dimensions: other neighbours", kind, d)
			}
			if asked[0]-asked[1] != int64(12*x.Rows*k) {
				t.Errorf("%s, %d dimensions: asked for %d bytes, and for %d", kind, d, asked[0], asked[1])
			}
		}
	}
}

func TestNearestIntoRefusals(t *testing.T) {
	x := pointtest.Make(pointtest.Kinds()[0], 20, 3, 1)
	for name, out := range map[string]*Neighbours{
		"no memory":      {K: 2},
		"too few rows":   {K: 2, Rows: make([]uint32, 39), Dist2: make([]float64, 40)},
		"too many":       {K: 2, Rows: make([]uint32, 40), Dist2: make([]float64, 41)},
		"a k below 0":    {K: -2},
		"another number": {K: 3, Rows: make([]uint32, 40), Dist2: make([]float64, 40)},
	} {
		if err := NearestInto(t.Context(), x, out, nil); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := NearestInto(t.Context(), x, &Neighbours{K: 20, Rows: make([]uint32, 400), Dist2: make([]float64, 400)}, nil); !errors.Is(err, ErrOption) {
		t.Errorf("all rows: %v", err)
	}
}
