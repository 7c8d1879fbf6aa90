package server

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
	"github.com/seed-64e14a55/privatemail/simd"
)

// plainPlace is what place says it does, with plainLayout and means that are added up by hand.
func plainPlace(t *testing.T, x blas64.General, s Settings) (ids []uint32, centres []float32) {
	t.Helper()
	clusters, err := kmeans.Fit(t.Context(), x, s.Cells, kmeans.Settings{Seed: s.Seed, AnyRows: true, Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatal(err)
	}
	centres = single(clusters.Centres.RawMatrix().Data)
	for range s.Rounds + 1 {
		ids = namesOf(plainLayout(x, centres, s.length(x.Rows)), s.Cells, s.length(x.Rows))
		for c := range s.Cells {
			for j := range x.Cols {
				sum, count := 0.0, 0
				for _, id := range ids[c*s.length(x.Rows) : (c+1)*s.length(x.Rows)] {
					if id != wire.Padding {
						sum, count = sum+float64(float32(x.Data[int(id)*x.Stride+j])), count+1
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
		s := Settings{Cells: 12, Representatives: 1, Rounds: rounds, Seed: 3}
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

// The representatives of a cell are those that k-means finds in its rows. A cell with fewer
// rows has each of them, and one without rows its centre.
func TestRepresent(t *testing.T) {
	x := unitRows(10, 30, 3, 4)
	const length, count = 20, 4
	ids := slices.Repeat([]uint32{wire.Padding}, 3*length)
	for i := range 18 {
		ids[i] = uint32(29 - i)
	}
	ids[length], ids[length+1] = 3, 5
	m := members[blas64.General]{x: x, d: 3, length: length, ids: ids, seed: 6}
	centres := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	got, err := m.represent(t.Context(), centres, count, nil, simd.At(simd.Best()))
	if err != nil {
		t.Fatal(err)
	}
	of := func(cell, r int) []float32 { return got[(cell*count+r)*3 : (cell*count+r+1)*3] }
	rows := blas64.General{Rows: 18, Cols: 3, Stride: 3}
	for i := range 18 {
		for _, v := range x.Data[(29-i)*3 : (30-i)*3] {
			rows.Data = append(rows.Data, float64(float32(v)))
		}
	}
	want, err := kmeans.Fit(t.Context(), rows, count, kmeans.Settings{Seed: 6, Kernels: simd.At(simd.Best())})
	if err != nil || !slices.Equal(got[:count*3], single(want.Centres.RawMatrix().Data)) {
		t.Errorf("other representatives than those of k-means: %v", err)
	}
	for _, row := range []int{3, 5} {
		if r := slices.IndexFunc([]int{0, 1}, func(r int) bool {
			return slices.Equal(of(1, r), single(x.Data[row*3:(row+1)*3]))
		}); r < 0 {
			t.Errorf("row %d of two does not stand for its cell", row)
		}
	}
	for r := range count {
		if !slices.Equal(of(1, r), of(1, r%2)) || !slices.Equal(of(2, r), centres[6:]) {
			t.Errorf("representative %d of a cell with two rows, or of one without", r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.represent(ctx, centres, count, nil, simd.At(simd.Best())); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
}

// A new row goes to the cell with the nearest representative.
func TestInsertByRepresentatives(t *testing.T) {
	all := unitRows(11, 140, 4, 5)
	x := all
	x.Rows = 120
	g := newGallery(t, x, Settings{Cells: 6, Representatives: 3, Rounds: 1})
	m := g.Manifest()
	checkGallery(t, g, all)
	for _, g := range []*Gallery{g, reopened(t, saved(t, g))} {
		for id := 120; id < 125; id++ {
			row := all.Data[id*4 : (id+1)*4]
			best, least := -1, math.Inf(1)
			for c := range m.Cells {
				for r := range 3 {
					point := m.Centres[(c*3+r)*4 : (c*3+r+1)*4]
					if d := kmeans.SquaredDistance(row, point); d < least && slices.Contains(g.IDs().IDs[c*m.Length:(c+1)*m.Length], wire.Padding) {
						best, least = c, d
					}
				}
			}
			if name, err := g.Insert(row, uint32(id)); err != nil || int(name)/m.Length != best {
				t.Errorf("row %d goes to slot %d, and the nearest cell is %d: %v", id, name, best, err)
			}
		}
		checkGallery(t, g, all)
	}
	for name, s := range map[string]Settings{"representatives": {Representatives: wire.MaxRepresentatives + 1}, "negative": {Representatives: -1}, "rounds": {Rounds: mostRounds + 1}} {
		if _, err := New(t.Context(), points.Single(x), s); !errors.Is(err, ErrGallery) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
