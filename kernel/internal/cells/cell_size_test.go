package cells

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// One point far away must not put all the others into one cell.
func TestOutliersDoNotSpoilTheGrid(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5} {
		p, radius := pointtest.Outliers(d)
		cl, err := NewList(t.Context(), pointtest.Open(p), radius, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Cells are counted, not clusters: a single cell has many clusters, too.
		occupied := 0
		for cell, from := range cl.start[:len(cl.start)-1] {
			if from < cl.start[cell+1] {
				occupied++
			}
		}
		if occupied < 200 {
			t.Errorf("d=%d: %d occupied cells", d, occupied)
		}
	}
}

// Where all cells are listed, their keys fit 32 bits.
func TestKeysOfListedCells(t *testing.T) {
	for _, side := range []float64{1 << 15, 1<<16 - 1, 1 << 16, 90_000} {
		g := grid{axes: []int{0, 1}, size: [maxAxes]int64{1, 1, 1}, side: 1, reach: 1}
		g.layOut(math.MaxInt32, []float64{0, 0}, []float64{side, side})
		if fits := (side+1)*(side+1) <= 1<<32; g.allCells() != fits || fits && g.keyBits() > 32 {
			t.Errorf("%g x %g cells: all are listed: %v, with keys of %d bits", side+1, side+1, g.allCells(), g.keyBits())
		}
	}
}

// Not all cells are listed for points in few places of a large box. The radii go up to
// the radius of package kernel's test of its cutoff.
func TestCellsOfBlobsAreNotListed(t *testing.T) {
	for _, d := range []int{1, 2} {
		p := pointtest.Open(pointtest.Blobs(d))
		for _, radius := range []float64{1e-3, 1e-2, 1e-1, pointtest.BlobRadius} {
			if g := newGrid(p, radius); g.allCells() {
				t.Errorf("d=%d, radius %g: all cells are listed", d, radius)
			}
		}
	}
}

// ForgetCells drops what only searches need, and keeps the points and clusters that
// products read.
func TestForgetCells(t *testing.T) {
	for _, kind := range []string{"uniform", "outlier"} {
		p := pointtest.Open(pointtest.Make(kind, 5000, 2, 3))
		cl, err := NewList(t.Context(), p, 0.03, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if cl.start == nil {
			t.Fatalf("%s: no cells", kind)
		}
		cl.ForgetCells()
		if cl.start != nil || cl.fast != nil || cl.rowKey != nil || cl.rowStart != nil || cl.boxes != nil {
			t.Errorf("%s: the list keeps what no product reads", kind)
		}
		if cl.Axis == nil || cl.Order == nil || cl.First == nil {
			t.Errorf("%s: points or clusters are gone", kind)
		}
	}
}
