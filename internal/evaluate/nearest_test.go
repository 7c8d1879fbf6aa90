package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/par"
)

// The tests of package nearest hold the search against its definition.
func TestNearest(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{0, 0, 3, 4, 0, 1, 0, -1})
	query := mat.NewDense(2, 2, []float64{0, 0, 3, 3})
	got, err := Nearest(t.Context(), query.RawMatrix(), x.RawMatrix(), 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.K != 3 || got.Queries() != 2 || !slices.Equal(got.Row(0), []int{0, 2, 3}) || !slices.Equal(got.Row(1), []int{1, 2, 0}) ||
		!slices.Equal(got.SquaredDistance, []float64{0, 1, 1, 1, 13, 18}) {
		t.Errorf("got %+v", got)
	}
	within, err := NearestWithin(t.Context(), x.RawMatrix(), []int{0, 1}, []int{3, 2, 0}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(within.Index, []int{2, 3, 2, 0}) || !slices.Equal(within.SquaredDistance, []float64{1, 1, 18, 25}) {
		t.Errorf("within: got %+v", within)
	}
}

func TestNearestErrors(t *testing.T) {
	ok := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	nan := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, float32(math.NaN())}}
	thin := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 2, 3}}
	short := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1}}
	for _, c := range []struct {
		name             string
		queries, gallery blas32.General
		k                int
		want             error
	}{
		{"k zero", ok, ok, 0, ErrShape},
		{"k above gallery", ok, ok, 4, ErrShape},
		{"dimensions", ok, thin, 1, ErrShape},
		{"storage of queries", short, ok, 1, ErrShape},
		{"storage of gallery", ok, short, 1, ErrShape},
		{"nan query", nan, ok, 1, ErrNonFinite},
		{"nan gallery", ok, nan, 1, ErrNonFinite},
	} {
		if _, err := Nearest(t.Context(), c.queries, c.gallery, c.k, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		name             string
		queries, gallery []int
		k                int
		want             error
	}{
		{"query beyond", []int{3}, []int{0}, 1, ErrRow},
		{"query negative", []int{-1}, []int{0}, 1, ErrRow},
		{"gallery beyond", []int{0}, []int{1, 3}, 1, ErrRow},
		{"gallery twice", []int{0}, []int{1, 1}, 1, ErrRow},
		{"own row counts as answer", []int{0}, []int{0, 1}, 2, ErrShape},
		{"no gallery", []int{0}, nil, 1, ErrShape},
	} {
		if _, err := NearestWithin(t.Context(), ok, c.queries, c.gallery, c.k, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if r, err := NearestWithin(t.Context(), ok, []int{0}, []int{1, 2}, 2, nil); err != nil || !slices.Equal(r.Index, []int{1, 2}) {
		t.Errorf("disjoint lists need no room: %v, %v", r, err)
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, c := range []struct{ nq, n, d int }{{397, 1000, 64}, {64, 8000, 1280}} {
		queries, errQ := synth.Uniform(c.nq, c.d, 1)
		gallery, errG := synth.Uniform(c.n, c.d, 2)
		if errQ != nil || errG != nil {
			b.Fatal(errQ, errG)
		}
		for _, count := range []int{1, 2} {
			b.Run(fmt.Sprintf("q=%d/n=%d/d=%d/k=8/workers=%d", c.nq, c.n, c.d, count), func(b *testing.B) {
				workers := par.New(count)
				defer workers.Close()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Nearest(b.Context(), queries, gallery, 8, &SearchSettings{Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(c.nq)*float64(c.n)*float64(c.d)/b.Elapsed().Seconds()/1e9, "Gdiff/s")
			})
		}
	}
}
