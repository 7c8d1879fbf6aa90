package kmeans

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/par"
)

// inertia returns the sum of squared distances from the nearest centre, and
// fails if a row was assigned to another one.
func inertia(t *testing.T, x blas32.General, k *Clusters) (sum float64) {
	t.Helper()
	m, _ := k.Centres.Dims()
	row := make([]float64, x.Cols)
	for i := range x.Rows {
		points.ReadRow(row, x, i)
		least := math.Inf(1)
		for c := range m {
			least = min(least, SquaredDistance(row, k.Centres.RawRowView(c)))
		}
		if got := SquaredDistance(row, k.Centres.RawRowView(k.Of[i])); got > least*(1+1e-12) {
			t.Fatalf("row %d is at %g from its centre and %g from another", i, got, least)
		}
		sum += least
	}
	return sum
}

// Distant groups are found, each with one centre at its mean.
func TestKMeansFindsGroups(t *testing.T) {
	const groups, each, d = 6, 50, 3
	x := blas32.General{Rows: groups * each, Cols: d, Stride: d + 1, Data: make([]float32, groups*each*(d+1))}
	words := random.NewSplitMix64(5)
	for i := range x.Rows {
		for j := range d {
			x.Data[i*x.Stride+j] = float32(100*(i%groups)*(j+1)) + float32(uniform(words))
		}
	}
	k, err := Fit(t.Context(), x, groups, Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range k.Of {
		if c != k.Of[i%groups] {
			t.Fatalf("row %d is with centre %d, row %d with %d", i, c, i%groups, k.Of[i%groups])
		}
	}
	if got := inertia(t, x, k); got > groups*each*d/4 {
		t.Errorf("sum of squared distances %g", got)
	}
	if k.Steps > 3 {
		t.Errorf("%d steps for distant groups", k.Steps)
	}
}

// More steps never make it worse, and each centre ends at the mean of its rows.
func TestKMeansDescends(t *testing.T) {
	x, err := synth.Uniform(700, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	before := math.Inf(1)
	for steps := 1; steps <= 60; steps += 6 {
		k, err := Fit(t.Context(), x, 9, Settings{Steps: steps, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		now := inertia(t, x, k)
		if now > before*(1+1e-12) {
			t.Errorf("%d steps: %g after %g", steps, now, before)
		}
		before = now
		if k.Steps < steps { // nothing changes after that
			mean, row := make([]float64, 5), make([]float64, 5)
			count := 0.0
			for i, c := range k.Of {
				if c == 0 {
					points.ReadRow(row, x, i)
					count++
					for j, v := range row {
						mean[j] += v
					}
				}
			}
			for j, v := range mean {
				if math.Abs(v/count-k.Centres.At(0, j)) > 1e-12 {
					t.Errorf("centre 0 is at %v, want the mean of its rows", k.Centres.RawRowView(0))
				}
			}
			return
		}
	}
	t.Error("it never settled")
}

func TestKMeansSameBits(t *testing.T) {
	x, err := synth.Clustered(1500, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float64, len(x.Data))}
	for i, v := range x.Data {
		wide.Data[i] = float64(v)
	}
	want, err := Fit(t.Context(), x, 30, Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 2, 5} {
		workers := par.New(count)
		got, err := Fit(t.Context(), wide, 30, Settings{Seed: 7, Workers: workers})
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Of, want.Of) || !slices.Equal(got.Centres.RawMatrix().Data, want.Centres.RawMatrix().Data) || got.Steps != want.Steps {
			t.Errorf("%d workers: other centres", count)
		}
	}
	other, err := Fit(t.Context(), x, 30, Settings{Seed: 8})
	if err != nil || slices.Equal(other.Of, want.Of) {
		t.Errorf("another seed gives the same: %v", err)
	}
}

// The seed chooses any different rows as first centres.
func TestKMeansAnyRows(t *testing.T) {
	x, err := synth.Clustered(1500, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Fit(t.Context(), x, 30, Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := Fit(t.Context(), x, 30, Settings{Seed: 7, AnyRows: true})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(drawn.Of, plain.Of) {
		t.Error("the same centres as those of k-means++")
	}
	if a, b := inertia(t, x, drawn), inertia(t, x, plain); a > 1.5*b {
		t.Errorf("inertia %g, by k-means++ %g", a, b)
	}
	all, err := Fit(t.Context(), x, 1500, Settings{Seed: 7, AnyRows: true, Steps: 1})
	if err != nil || inertia(t, x, all) > 1e-9 {
		t.Errorf("a row is no centre where all should be: %v", err)
	}
}

// Kernels of every level give the same centres, about as good as those of gonum.
func TestKMeansKernels(t *testing.T) {
	x, err := synth.Clustered(1500, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Fit(t.Context(), x, 30, Settings{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	var want *Clusters
	for _, kernels := range simd.All() {
		for _, count := range []int{1, 3} {
			workers := par.New(count)
			got, err := Fit(t.Context(), x, 30, Settings{Seed: 7, Workers: workers, Kernels: kernels})
			workers.Close()
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
				if a, b := inertia(t, x, got), inertia(t, x, plain); a > 1.1*b {
					t.Errorf("inertia %g, by gonum %g", a, b)
				}
			}
			if !slices.Equal(got.Of, want.Of) || !slices.Equal(got.Centres.RawMatrix().Data, want.Centres.RawMatrix().Data) || got.Steps != want.Steps {
				t.Errorf("%v, %d workers: other centres", kernels, count)
			}
		}
	}
}

// A centre without rows is not lost: two far rows share a centre, and a third centre
// has no rows.
func TestKMeansRevives(t *testing.T) {
	x := blas32.General{Rows: 6, Cols: 1, Stride: 1, Data: []float32{0, 1, 2, 100, 101, 150}}
	k := &kmeans[blas32.General]{
		x: x, n: 6, d: 1, m: 3,
		centres:   blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 110, 1e6}},
		half:      make([]float64, 3),
		of:        make([]int, 6),
		distance:  make([]float64, 6),
		scratches: []scratch{{rows: make([]float64, clusterRows), products: make([]float64, clusterRows*3)}},
	}
	for range 3 {
		if _, err := k.assign(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := k.move(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []float64{1, 100.5, 150}; !slices.Equal(k.centres.Data, want) {
		t.Errorf("centres %v, want %v", k.centres.Data, want)
	}
}

func TestKMeansFewDifferentRows(t *testing.T) {
	x := blas32.General{Rows: 5, Cols: 2, Stride: 2, Data: []float32{1, 1, 1, 1, 2, 2, 2, 2, 1, 1}}
	k, err := Fit(t.Context(), x, 4, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := inertia(t, x, k); got != 0 {
		t.Errorf("sum of squared distances %g", got)
	}
	all, err := Fit(t.Context(), x, 5, Settings{Seed: 3})
	if err != nil || len(all.Of) != 5 {
		t.Errorf("as many centres as rows: %v", err)
	}
}

func TestPick(t *testing.T) {
	w := []float64{0, 1, 0, 2, 1, 0}
	for u, want := range map[float64]int{0: 1, 0.2: 1, 0.25: 3, 0.7: 3, 0.75: 4, 1 - 0x1p-53: 4} {
		if got := pick(w, u); got != want {
			t.Errorf("%g: %d, want %d", u, got, want)
		}
	}
	if got := pick([]float64{0, 0}, 0.5); got != 0 {
		t.Errorf("no weight: %d", got)
	}
}

func TestKMeansErrors(t *testing.T) {
	x, err := synth.Uniform(300, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []int{-1, 0, 301} {
		if _, err := Fit(t.Context(), x, m, Settings{}); !errors.Is(err, points.ErrShape) {
			t.Errorf("m = %d: error %v", m, err)
		}
	}
	if _, err := Fit(t.Context(), blas32.General{Rows: 3, Cols: 2, Stride: 2}, 1, Settings{}); !errors.Is(err, points.ErrShape) {
		t.Errorf("short storage: error %v", err)
	}
	if _, err := Fit(t.Context(), blas32.General{}, 1, Settings{}); !errors.Is(err, points.ErrShape) {
		t.Errorf("empty: error %v", err)
	}
	bad := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, float32(math.NaN())}}
	if _, err := Fit(t.Context(), bad, 1, Settings{}); !errors.Is(err, points.ErrNonFinite) {
		t.Errorf("nan: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(done, total int) {
		if done == 2 {
			cancel()
		}
	}
	if _, err := Fit(ctx, x, 20, Settings{Progress: stop}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

func BenchmarkKMeans(b *testing.B) {
	x, err := synth.Clustered(5000, 64, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range []int{12, 55} {
		for _, count := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=5000/d=64/m=%d/workers=%d", m, count), func(b *testing.B) {
				workers := par.New(count)
				defer workers.Close()
				for b.Loop() {
					if _, err := Fit(b.Context(), x, m, Settings{Seed: 1, Workers: workers}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
