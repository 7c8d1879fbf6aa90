package rows_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Rows of many numbers may share the numbers of the glance, and more numbers.
func TestDistinctRowsOfManyNumbers(t *testing.T) {
	const n, d = 600, 300
	// There are 200 distinct rows. They are zero but for one number that no glance reads.
	p := blas32.General{Rows: n, Cols: d, Stride: d, Data: pointtest.Fill(n*d, func(i int) float64 {
		if i%d == 20 {
			return float64(i / d % 200)
		}
		return 0
	})}
	distinct, err := rows.FindDistinct(t.Context(), pointtest.Open(p), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(distinct.Rows) != 200 || len(distinct.Order) != n || len(distinct.Group) != 201 {
		t.Fatalf("%d points of %d rows, want 200 of %d", len(distinct.Rows), len(distinct.Order), n)
	}
	for point, first := range distinct.Rows {
		got, want := distinct.Order[distinct.Group[point]:distinct.Group[point+1]], []uint32{first, first + 200, first + 400}
		if int(first) != point || !slices.Equal(got, want) {
			t.Errorf("point %d: rows %v, want %v", point, got, want)
		}
	}
	p.Rows = 200
	if distinct, err = rows.FindDistinct(t.Context(), pointtest.Open(p), nil); distinct.Rows != nil || distinct.Order != nil || distinct.Group != nil || err != nil {
		t.Errorf("distinct rows: %+v, %v", distinct, err)
	}
}

// Rows that differ only in the signs of their zeros are equal, wherever the zeros are.
func TestZerosOfEitherSignAreEqual(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for _, d := range []int{9, 300} {
		for c := range d {
			p := blas32.General{Rows: 2, Cols: d, Stride: d, Data: make([]float32, 2*d)}
			p.Data[d+c] = negative
			distinct, err := rows.FindDistinct(t.Context(), pointtest.Open(p), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(distinct.Rows) != 1 {
				t.Errorf("d = %d: rows with another zero in column %d are not equal", d, c)
			}
		}
	}
}
