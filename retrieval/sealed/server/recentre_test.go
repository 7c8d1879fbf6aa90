package server

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// plainPlace is what place says it does, with plainLayout and means that are added up by hand.
func plainPlace(t *testing.T, x blas64.General, s Settings) (ids []uint32, centres []float32) {
	t.Helper()
	clusters, err := kmeans.Fit(t.Context(), x, s.Cells, kmeans.Settings{Seed: s.Seed, AnyRows: true, Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range clusters.Centres.RawMatrix().Data {
		centres = append(centres, float32(v))
	}
	for range s.Rounds + 1 {
		ids = namesOf(plainLayout(x, centres, s.length(x.Rows)), s.Cells, s.length(x.Rows))
		for c := range s.Cells {
			for j := range x.Cols {
				sum, count := 0.0, 0
				for _, id := range ids[c*s.length(x.Rows) : (c+1)*s.length(x.Rows)] {
					if id != wire.Padding {
						sum, count = sum+x.Data[int(id)*x.Stride+j], count+1
					}
				}
				if count > 0 {
					centres[c*x.Cols+j] = float32(sum / float64(count))
				}
			}
		}
	}
	return ids, centres
}

// Centres move to the means of the rows that are in their cells, as often as asked.
func TestPlace(t *testing.T) {
	x := unitRows(9, 240, 5, 3)
	var last []uint32
	for _, rounds := range []int{0, 1, 3} {
		s := Settings{Cells: 12, Rounds: rounds, Seed: 3}
		wantIDs, wantCentres := plainPlace(t, x, s)
		if slices.Equal(wantIDs, last) {
			t.Errorf("%d rounds: nothing has moved", rounds)
		}
		last = wantIDs
		for _, count := range []int{1, 3} {
			s.Workers = par.New(count)
			reports, done := 0, 0
			s.Progress = func(stage string, d, total int) {
				if stage == "layout" {
					if reports, done = reports+1, d; total != (rounds+1)*x.Rows {
						t.Errorf("%d of %d rows", d, total)
					}
				}
			}
			ids, centres, err := place(t.Context(), x, x.Rows, x.Cols, s, simd.At(simd.Best()))
			s.Workers.Close()
			if err != nil || !slices.Equal(ids, wantIDs) || !slices.Equal(centres, wantCentres) {
				t.Fatalf("%d rounds, %d workers: other cells or centres: %v", rounds, count, err)
			}
			if reports != rounds+1 || done != (rounds+1)*x.Rows {
				t.Errorf("%d rounds: %d reports, the last of %d rows", rounds, reports, done)
			}
		}
	}
}

// A centre without rows stays where it is.
func TestMoveCentres(t *testing.T) {
	x := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, 2, 3, 5, 7, 7}}
	centres := []float32{9, 8, 7, 6, 5, 4}
	ids := []uint32{2, 0, wire.Padding, wire.Padding, wire.Padding, wire.Padding, 1, wire.Padding, wire.Padding}
	if err := moveCentres(t.Context(), centres, x, 2, ids, 3, nil); err != nil {
		t.Fatal(err)
	}
	if want := []float32{4, 4.5, 7, 6, 3, 5}; !slices.Equal(centres, want) {
		t.Errorf("centres %v, want %v", centres, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := moveCentres(ctx, centres, x, 2, ids, 3, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
	if _, err := New(t.Context(), x, Settings{Rounds: mostRounds + 1}); !errors.Is(err, ErrGallery) {
		t.Errorf("too many rounds: %v", err)
	}
}
