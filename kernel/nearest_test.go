package kernel

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// nearestRows are the nearest rows of every row as EachNearest gives them.
type nearestRows struct {
	rows  []uint32
	dist2 []float64
}

func findNearest(ctx context.Context, x blas32.General, k int, o *Options) (*nearestRows, error) {
	var out nearestRows
	if k > 0 && k < x.Rows {
		out = nearestRows{make([]uint32, x.Rows*k), make([]float64, x.Rows*k)}
	}
	err := EachNearest(ctx, x, k, o, func(row int, near []uint32, dist2 []float64) {
		copy(out.rows[row*k:][:k], near)
		copy(out.dist2[row*k:][:k], dist2)
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// The neighbours are those of a full sort, in few and in many dimensions: of hard points,
// lattices with ties, equal points, and points of sizes that float32 cannot square. One
// and three workers find the same.
func TestNearest(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 2, 3, 8, 9, 20} {
			x := pointtest.Make(kind, 140, d, uint64(d))
			for _, scale := range []float32{1, 1e-30, 1e30} {
				scaled := blas32.General{Rows: x.Rows, Cols: d, Stride: d, Data: slices.Clone(x.Data)}
				for i := range scaled.Data {
					scaled.Data[i] *= scale
				}
				checkNearest(t, kind, scaled, 7, workers)
			}
			checkNearest(t, kind, x, x.Rows-1, workers)
		}
	}
	rng := pointtest.Rand(9)
	for range 40 {
		x, what := pointtest.Hard(rng, 2+rng.IntN(200), 1+rng.IntN(30))
		checkNearest(t, what, x, 1+rng.IntN(x.Rows-1), workers)
	}
}

func checkNearest(t *testing.T, name string, x blas32.General, k int, workers *par.Workers) {
	t.Helper()
	p := pointtest.Open(x)
	alone, err := findNearest(t.Context(), x, k, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	shared, err := findNearest(t.Context(), x, k, &Options{Workers: workers})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !slices.Equal(alone.rows, shared.rows) || !slices.Equal(alone.dist2, shared.dist2) {
		t.Fatalf("%s: workers find other neighbours", name)
	}
	for i := range x.Rows {
		others := make([]int, 0, x.Rows)
		for j := range x.Rows {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortFunc(others, func(a, b int) int { return cmp.Or(cmp.Compare(p.Dist2(i, a), p.Dist2(i, b)), a-b) })
		for e, want := range others[:k] {
			if j, d2 := int(alone.rows[i*k+e]), alone.dist2[i*k+e]; j != want || d2 != p.Dist2(i, want) {
				t.Fatalf("%s, %d x %d: neighbour %d of row %d is row %d at %g, want %d at %g", name, x.Rows, x.Cols, e, i, j, d2, want, p.Dist2(i, want))
			}
		}
	}
}

func TestNearestRefuses(t *testing.T) {
	x := pointtest.Make("uniform", 50, 2, 1)
	for _, k := range []int{-1, 0, 50, math.MaxInt} {
		if _, err := findNearest(t.Context(), x, k, nil); !errors.Is(err, ErrOption) {
			t.Errorf("k = %d: %v", k, err)
		}
	}
	if _, err := findNearest(t.Context(), blas32.General{}, 1, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("no points: %v", err)
	}
	for _, d := range []int{2, 30} {
		_, err := findNearest(t.Context(), pointtest.Make("uniform", 5000, d, 1), 10, &Options{MaxMemory: 5000})
		if e, ok := errors.AsType[*MemoryError](err); !ok || e.Need <= 5000 {
			t.Errorf("%d dimensions, limit without room for the search: %v", d, err)
		}
	}
	for _, o := range []*Options{{CutoffRadius: 1}, {Neighbours: 3}, {Neighbours: 3, SelfTuned: true}, {MaxMemory: -1}} {
		if _, err := findNearest(t.Context(), x, 3, o); !errors.Is(err, ErrOption) {
			t.Errorf("options %+v: %v", *o, err)
		}
	}
	x.Data[7] = float32(math.NaN())
	if _, err := findNearest(t.Context(), x, 3, nil); !errors.Is(err, ErrNonFinite) {
		t.Errorf("a NaN: %v", err)
	}
}

func TestNearestReportsAndStops(t *testing.T) {
	for _, d := range []int{2, 30} {
		x := pointtest.Make("uniform", 3000, d, 1)
		done, total := 0, 0
		report := func(stage string, d, of int) {
			if stage == "find nearest neighbours" {
				done, total = d, of
			}
		}
		if _, err := findNearest(t.Context(), x, 5, &Options{Progress: report}); err != nil || done == 0 || done != total {
			t.Errorf("%d dimensions: %d of %d pieces reported, %v", d, done, total, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := func(stage string, d, of int) {
			if stage == "find nearest neighbours" {
				cancel()
			}
		}
		if found, err := findNearest(ctx, x, 5, &Options{Progress: stop}); !errors.Is(err, context.Canceled) || found != nil {
			t.Errorf("%d dimensions: a cancelled search returns %v", d, err)
		}
	}
}

// What a search will hold is asked for once, before it begins. A refusal ends it.
func TestNearestAsksForItsMemory(t *testing.T) {
	for _, d := range []int{2, 30} {
		x := pointtest.Make("uniform", 2000, d, 1)
		var asked []int64
		reserve := func(answer bool) *Options {
			return &Options{MaxMemory: 1 << 30, Reserve: func(bytes int64) bool { asked = append(asked, bytes); return answer }}
		}
		if _, err := findNearest(t.Context(), x, 10, reserve(true)); err != nil || len(asked) != 1 || asked[0] < 2000 {
			t.Errorf("%d dimensions: asked for %d bytes, %v", d, asked, err)
		}
		found, err := findNearest(t.Context(), x, 10, reserve(false))
		if e, ok := errors.AsType[*MemoryError](err); !ok || !base.Denied(err) || e.Need != asked[0] || found != nil {
			t.Errorf("%d dimensions: refused memory, got %v", d, err)
		}
		// As much as was asked for is enough, and less is not.
		if _, err := findNearest(t.Context(), x, 10, &Options{MaxMemory: asked[0]}); err != nil {
			t.Errorf("%d dimensions: %v", d, err)
		}
		if _, err := findNearest(t.Context(), x, 10, &Options{MaxMemory: asked[0] - 1}); !errors.Is(err, ErrMemory) {
			t.Errorf("%d dimensions, a byte less: %v", d, err)
		}
	}
}

// EachNearest asks for no memory for neighbours that it does not keep, ends with its context
// and survives a function that panics.
func TestEachNearest(t *testing.T) {
	none := func(int, []uint32, []float64) {}
	for _, c := range []struct {
		d    int
		kept int64 // bytes of a neighbour
	}{{2, 12}, {30, 0}} {
		x := pointtest.Make("uniform", 3000, c.d, 1)
		var each int64
		reserve := func(b int64) bool { each = b; return true }
		if err := EachNearest(t.Context(), x, 10, &Options{MaxMemory: 1 << 30, Reserve: reserve}, none); err != nil {
			t.Fatalf("%d dimensions: %v", c.d, err)
		}
		if want := graph.NearestSearchBytes(3000, c.d, 10, &base.Options{}) + c.kept*3000*10; each != want {
			t.Errorf("%d dimensions: asked for %d bytes, want %d", c.d, each, want)
		}
		if err := EachNearest(t.Context(), x, 10, &Options{MaxMemory: each - 1}, none); !errors.Is(err, ErrMemory) {
			t.Errorf("%d dimensions, a byte less: %v", c.d, err)
		}
		if err := EachNearest(t.Context(), x, 3000, nil, none); !errors.Is(err, ErrOption) {
			t.Errorf("%d dimensions, too many neighbours: %v", c.d, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := func(stage string, done, of int) { cancel() }
		if err := EachNearest(ctx, x, 5, &Options{Progress: stop}, none); !errors.Is(err, context.Canceled) {
			t.Errorf("%d dimensions: a cancelled search returns %v", c.d, err)
		}
		err := EachNearest(t.Context(), x, 5, nil, func(int, []uint32, []float64) { panic("no") })
		if _, ok := errors.AsType[*par.PanicError](err); !ok {
			t.Errorf("%d dimensions: %v", c.d, err)
		}
	}
}

// Rows that change break a promise, and a function of the caller may panic. What comes of
// it is an error or wrong neighbours, and no panic.
func TestNearestDoesNotPanic(t *testing.T) {
	for _, d := range []int{2, 30} {
		for _, value := range []float64{math.NaN(), math.Inf(1), -3e38} {
			x := pointtest.Make("uniform", 500, d, 1)
			change := func(int64) bool {
				for i := range x.Data {
					x.Data[i] = float32(value)
				}
				return true
			}
			// Whatever it returns.
			_, _ = findNearest(t.Context(), x, 5, &Options{Reserve: change})
		}
		_, err := findNearest(t.Context(), pointtest.Make("uniform", 500, d, 1), 5, &Options{Reserve: func(int64) bool { panic("no") }})
		if _, ok := errors.AsType[*par.PanicError](err); !ok {
			t.Errorf("%d dimensions: %v", d, err)
		}
	}
}
