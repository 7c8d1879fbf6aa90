package cells

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

func TestMortonOrder(t *testing.T) {
	// The four corners and the quarters of a square, in Z order.
	square := []float32{0, 0, 3, 0, 0, 3, 3, 3, 1, 1, 2, 2}
	got, err := mortonOrder(blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: square})
	if want := []uint32{0, 4, 1, 2, 5, 3}; err != nil || !slices.Equal(got, want) {
		t.Errorf("order %v, want %v, %v", got, want, err)
	}
	if _, err := mortonOrder(blas32.General{Rows: 6, Cols: 2, Stride: 2, Data: square[:11]}); !errors.Is(err, points.ErrShape) {
		t.Errorf("err = %v", err)
	}
	if _, err := mortonOrder(blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{float32(math.NaN())}}); !errors.Is(err, points.ErrNonFinite) {
		t.Errorf("err = %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 60).Draw(t, "n"), rapid.IntRange(1, 70).Draw(t, "d")
		p := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range p.Data {
			p.Data[i] = float32(rng.IntN(3)) // many equal points
		}
		order, err := mortonOrder(p)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if all := slices.Sorted(slices.Values(order)); len(all) != n || n > 0 && int(all[n-1]) != n-1 || len(slices.Compact(all)) != n {
			t.Fatalf("%d rows: %v", n, order)
		}
		// Equal points are adjacent.
		seen := make(map[string]int)
		for at, i := range order {
			key := ""
			for _, v := range p.Data[int(i)*d:][:d] {
				key += string(rune('a' + int(v)))
			}
			if last, ok := seen[key]; ok && last != at-1 {
				t.Fatalf("equal points at %d and %d of the curve", last, at)
			}
			seen[key] = at
		}
	})
}

// Points that follow each other on the curve are close together: boxes of 32 points are
// far smaller than boxes of 32 random points.
func TestMortonRunsAreCompact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	p := blas32.General{Rows: 4096, Cols: 2, Stride: 2, Data: make([]float32, 8192)}
	for i := range p.Data {
		p.Data[i] = rng.Float32()
	}
	order, err := mortonOrder(p)
	if err != nil {
		t.Fatal(err)
	}
	area := 0.0
	for at := 0; at < 4096; at += 32 {
		lo, hi := [2]float32{2, 2}, [2]float32{-1, -1}
		for _, i := range order[at : at+32] {
			for a := range 2 {
				lo[a], hi[a] = min(lo[a], p.Data[2*i+uint32(a)]), max(hi[a], p.Data[2*i+uint32(a)])
			}
		}
		area += float64((hi[0]-lo[0])*(hi[1]-lo[1])) / 128
	}
	if area > 0.03 { // 32 of 4096 points in a square have 0.008
		t.Errorf("mean box area %g", area)
	}
}
