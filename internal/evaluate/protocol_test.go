package evaluate

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// digitsFeatures returns the digits as the protocol prepares them.
func digitsFeatures(t testing.TB, seed uint64) (f *mat.Dense, labels []int32, split *Split) {
	t.Helper()
	x, labels := digits.Load()
	split, err := NewSplit(x.Rows, 400, 1000, seed)
	if err != nil {
		t.Fatal(err)
	}
	f, err = Features(x, split.Public, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f, labels, split
}

// The figures that the protocol states for prepared rows of the digits: seed 1,
// to be met to 0.004, and the means of the seeds 1 to 5, met to their rounding.
func TestProtocolOnDigits(t *testing.T) {
	var mean [3]float64
	for seed := uint64(1); seed <= 5; seed++ {
		f, labels, split := digitsFeatures(t, seed)
		if len(split.Queries) != 397 {
			t.Fatalf("%d queries", len(split.Queries))
		}
		index, _, err := nearest.Within(t.Context(), f.RawMatrix(), split.Queries, split.Gallery, 8, nearest.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := (&Ranking{K: 8, Index: index}).Score(pick(labels, split.Queries), labels, 1, 8)
		if err != nil {
			t.Fatal(err)
		}
		got := [3]float64{s.At[0].Recall, s.At[1].Recall, s.At[1].Precision}
		t.Logf("seed %d: R@1 %.4f R@8 %.4f P@8 %.4f", seed, got[0], got[1], got[2])
		for i, v := range got {
			mean[i] += v / 5
			if want := [3]float64{0.980, 1.000, 0.942}[i]; seed == 1 && math.Abs(v-want) > 0.004 {
				t.Errorf("seed 1, figure %d: %.4f, want %.3f", i, v, want)
			}
		}
	}
	for i, want := range [3]float64{0.977, 0.997, 0.940} {
		if math.Abs(mean[i]-want) > 0.0006 {
			t.Errorf("mean of five seeds, figure %d: %.4f, want %.3f", i, mean[i], want)
		}
	}
}

func TestSplit(t *testing.T) {
	s, err := NewSplit(1797, 400, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1002, 1544, 81, 54, 613}; !slices.Equal(s.Public[:5], want) {
		t.Errorf("public rows begin %v, want %v", s.Public[:5], want)
	}
	all := slices.Concat(s.Public, s.Gallery, s.Queries)
	slices.Sort(all)
	for i, row := range all {
		if row != i {
			t.Fatalf("sorted row %d is %d", i, row)
		}
	}
	// Growing one part must not write into the next.
	gallery := s.Gallery[0]
	_ = append(s.Public, -1)
	if s.Gallery[0] != gallery {
		t.Error("parts share capacity")
	}
	for _, c := range [][3]int{{10, 0, 5}, {10, 5, 0}, {10, 5, 5}, {10, 10, 1}, {0, 1, 1}, {10, math.MaxInt, math.MaxInt}, {10, -1, 5}} {
		if _, err := NewSplit(c[0], c[1], c[2], 1); !errors.Is(err, ErrShape) {
			t.Errorf("%v: error %v", c, err)
		}
	}
}

// The map by hand in two dimensions. Roots scaled to length 1 are points of the
// circle; the public ones lie symmetric about the diagonal, so the mean is on it
// and the first component is across it: (1, -1)/sqrt(2).
func TestFeaturesByHand(t *testing.T) {
	x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{
		0, 9, // root (0, 3), public
		16, 0, // root (4, 0), public
		9, 16, // root (3, 4), so (0.6, 0.8)
		-1, 0, // root (-1, 0): the sign stays
	}}
	f, err := Features(x, []int{0, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	h := math.Sqrt(0.5)
	for i, p := range [][2]float64{{0, 1}, {1, 0}, {0.6, 0.8}, {-1, 0}} {
		u, v := p[0]-0.5, p[1]-0.5 // less the mean (1/2, 1/2)
		norm := math.Hypot(u, v)
		across, along := h*(u-v)/norm, h*(u+v)/norm
		if math.Abs(f.At(i, 0)-across) > 1e-14 || math.Abs(f.At(i, 1)-along) > 1e-14 {
			t.Errorf("row %d: %v, want %v, %v", i, f.RawRowView(i), across, along)
		}
	}
}

func TestFeaturesErrors(t *testing.T) {
	make2 := func(v ...float32) blas32.General {
		return blas32.General{Rows: len(v) / 2, Cols: 2, Stride: 2, Data: v}
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		x      blas32.General
		public []int
		m      int
		want   error
	}{
		{"empty", blas32.General{Cols: 2, Stride: 2}, nil, 1, ErrShape},
		{"no public rows", make2(1, 2, 3, 4), nil, 1, ErrShape},
		{"too many components", make2(1, 2, 3, 4), []int{0, 1}, 3, ErrShape},
		{"public row beyond", make2(1, 2, 3, 4), []int{0, 2}, 1, ErrRow},
		{"negative row number", make2(1, 2, 3, 4), []int{-1}, 1, ErrRow},
		{"nan", make2(1, 2, nan, 4), []int{0, 1}, 1, ErrNonFinite},
		{"zero row", make2(1, 2, 0, 0), []int{0, 1}, 1, ErrZeroRow},
		{"row at the mean", make2(1, 2, 3, 4), []int{0}, 1, ErrZeroRow},
		{"short storage", blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 2}}, nil, 1, ErrShape},
	} {
		if _, err := Features(c.x, c.public, c.m); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}
