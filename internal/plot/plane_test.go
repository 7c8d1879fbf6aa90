package plot

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// normal returns rows whose columns have descending scales and means far from zero.
func normal(n, d int) blas32.General {
	rng := rand.New(rand.NewPCG(3, 4))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	for i := range x.Data {
		x.Data[i] = float32(20 + rng.NormFloat64()/float64(1+i%d))
	}
	return x
}

// The plane is the same as that of the full eigenproblem.
func TestPlaneHasThePrincipalComponents(t *testing.T) {
	for _, d := range []int{3, 9, 40} {
		x := normal(300, d)
		p, err := NewPlane(t.Context(), x, upTo(300))
		if err != nil {
			t.Fatal(err)
		}
		c, err := pca.Fit(x, 2)
		if err != nil {
			t.Fatal(err)
		}
		all, err := pca.Fit(x, d)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, v := range all.Variances {
			total += v
		}
		want, err := pca.Project(c, x)
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range p.Points {
			if math.Abs(at.X-want.At(i, 0)) > 1e-2 || math.Abs(at.Y-want.At(i, 1)) > 1e-2 {
				t.Fatalf("%d columns, row %d: %v, want %g and %g", d, i, at, want.At(i, 0), want.At(i, 1))
			}
		}
		for j, share := range p.Share {
			if math.Abs(share-c.Variances[j]/total) > 1e-5 {
				t.Errorf("%d columns: share %g, want %g", d, share, c.Variances[j]/total)
			}
		}
	}
}

func TestPlaneOfFewColumns(t *testing.T) {
	x := normal(50, 2)
	p, err := NewPlane(t.Context(), x, []int{7, 30})
	if err != nil || len(p.Points) != 2 || p.Points[1] != (Point{float64(x.Data[60]), float64(x.Data[61])}) {
		t.Errorf("two columns: %v, %v", p, err)
	}
	x = normal(50, 1)
	if p, err = NewPlane(t.Context(), x, upTo(50)); err != nil || p.Points[9].X != float64(x.Data[9]) || p.Points[9].Y == p.Points[8].Y {
		t.Errorf("one column: %v, %v", p, err)
	}
	equal := blas64.General{Rows: 9, Cols: 4, Stride: 4, Data: make([]float64, 36)}
	for i := range equal.Data {
		equal.Data[i] = 0.1
	}
	if p, err = NewPlane(t.Context(), equal, upTo(9)); err != nil || p.Share != [2]float64{} {
		t.Errorf("equal rows: %v, %v", p, err)
	}
}

func TestPlaneRefusals(t *testing.T) {
	x := normal(50, 5)
	x.Data[5*40+2] = float32(math.Inf(1))
	_, err := NewPlane(t.Context(), x, []int{3, 40})
	var at *points.NonFiniteError
	if !errors.As(err, &at) || at.Row != 40 || at.Col != 2 {
		t.Errorf("an infinity: %v", err)
	}
	if _, err := NewPlane(t.Context(), x, nil); !errors.Is(err, points.ErrShape) {
		t.Errorf("no rows: %v", err)
	}
	if _, err := NewPlane(t.Context(), blas32.General{Rows: 3, Cols: 3, Stride: 3}, upTo(3)); !errors.Is(err, points.ErrShape) {
		t.Errorf("no data: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewPlane(ended, normal(50, 5), upTo(50)); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestRows(t *testing.T) {
	for _, n := range []int{0, 1, 9999, 10000, 10001, 123457, math.MaxInt} {
		rows := Rows(n)
		if len(rows) != min(n, MostRows) {
			t.Errorf("%d of %d rows", len(rows), n)
		}
		for i, row := range rows {
			if row < 0 || row >= n || i > 0 && row <= rows[i-1] || n <= MostRows && row != i {
				t.Fatalf("row %d of the %d is %d, of %d", i, len(rows), row, n)
			}
		}
	}
	// A file with ten classes in turn: each has about its part of the sample. The chance
	// of a share that is off by five standard deviations would be below 1e-6, and the
	// sample is fixed.
	var counts [10]int
	for _, row := range Rows(1000000) {
		counts[row%10]++
	}
	for class, count := range counts {
		if count < 850 || count > 1150 {
			t.Errorf("class %d has %d of 10000 rows", class, count)
		}
	}
}
