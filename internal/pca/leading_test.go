package pca

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// wide returns rows in float64.
func wide(x blas32.General) *mat.Dense {
	out := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		points.ReadRow(out.RawRowView(i), x, i)
	}
	return out
}

// The leading components are those of Fit, and the sum of variances that of all.
func TestLeadingAgainstFit(t *testing.T) {
	for _, c := range []struct{ n, d, m int }{{300, 3, 2}, {300, 40, 2}, {30, 200, 3}, {5, 1, 1}, {4, 6, 5}} {
		x, err := synth.Clustered(c.n, c.d, 7)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Fit(x, c.d)
		if err != nil {
			t.Fatal(err)
		}
		got, total, err := Leading(t.Context(), wide(x), c.m)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range want.Variances {
			sum += v
		}
		if math.Abs(total-sum) > 1e-9*sum {
			t.Errorf("%+v: all variances %g, want %g", c, total, sum)
		}
		for k := range c.m {
			if math.Abs(got.Variances[k]-want.Variances[k]) > 1e-4*want.Variances[0] {
				t.Errorf("%+v: variance %d is %g, want %g", c, k, got.Variances[k], want.Variances[k])
			}
			// Directions of nearly equal variances are not told apart.
			next := 0.0
			if k+1 < c.d {
				next = want.Variances[k+1]
			}
			apart := want.Variances[k]-next > 0.1*want.Variances[0] && (k == 0 || want.Variances[k-1]-want.Variances[k] > 0.1*want.Variances[0])
			if p := mat.Dot(got.Vectors.ColView(k), want.Vectors.ColView(k)); apart && p < 0.999 {
				t.Errorf("%+v: direction %d, inner product %g", c, k, p)
			}
		}
	}
}

func TestLeadingOfHardRows(t *testing.T) {
	equal := mat.NewDense(9, 4, nil)
	for i := range equal.RawMatrix().Data {
		equal.RawMatrix().Data[i] = 0.1
	}
	for name, x := range map[string]*mat.Dense{"equal": equal, "zero": mat.NewDense(3, 3, nil), "one": mat.NewDense(1, 3, []float64{1, 2, 3})} {
		c, total, err := Leading(t.Context(), x, 2)
		if err != nil || total != 0 || c.Variances[0] > 1e-30 || math.IsNaN(mat.Norm(c.Vectors, 2)) {
			t.Errorf("%s rows: %v, %g, %v", name, c, total, err)
		}
	}
	for _, m := range []int{0, 5} {
		if _, _, err := Leading(t.Context(), mat.NewDense(9, 4, nil), m); !errors.Is(err, points.ErrShape) {
			t.Errorf("%d of 4: %v", m, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Leading(ended, mat.NewDense(9, 4, nil), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
