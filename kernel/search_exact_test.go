package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// exactDims are few and many, multiples of 4, 16 and 64 and not.
var exactDims = []int{9, 12, 16, 31, 63, 64, 65, 100, 127, 128, 129, 200, 257, 512, 641, 1000, 2047, 2048}

// The neighbours within a radius are those of a brute force in float64, and so are
// the nearest, at every level. Radii lie on distances and next to them.
func TestSearchIsExact(t *testing.T) {
	t.Parallel()
	workers := par.New(2)
	defer workers.Close()
	for seed := range longtest.Pick(12, 126, 504) { // random sets, searched at every level
		rng := pointtest.Rand(uint64(seed) + 1000)
		d := exactDims[seed%len(exactDims)]
		n := 2 + rng.IntN(60)
		if seed%3 == 0 {
			n = 150 + rng.IntN(250) // several tiles, and a choice of projections
		}
		p, what := pointtest.Hard(rng, n, d)
		radius := pointtest.TypicalDistance(p, rng)
		switch rng.IntN(4) {
		case 0:
			radius = math.Nextafter(radius, 0)
		case 1:
			radius = math.Nextafter(radius, math.Inf(1))
		}
		name := fmt.Sprintf("case %d: %s, n=%d d=%d radius=%g", seed, what, n, d, radius)
		want := bruteNeighbours(p, radius)
		k := 1 + rng.IntN(12)
		nearest := bruteNearest(p, k)
		for _, level := range simd.Levels() {
			o := &Options{CutoffRadius: radius, Workers: workers, Kernels: simd.At(level)}
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(radius), o))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			compareLists(t, fmt.Sprintf("%s, %v", name, level), graphNeighbours(op), want)
			if !op.Weights.IsSymmetric() {
				t.Fatalf("%s: not symmetric", name)
			}
			o = &Options{Neighbours: k, Workers: workers, Kernels: simd.At(level)}
			if op, err = as[*truncated.CSR](openCSR(t.Context(), p, Sigma(math.Sqrt(mustPoints(t, p).Extent2())), o)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			compareLists(t, fmt.Sprintf("%s, %v, %d nearest", name, level, k), graphNeighbours(op), nearest)
		}
	}
}

// A search that chooses among projections and has many tiles.
func TestLargerSearchesAreExact(t *testing.T) {
	t.Parallel()
	workers := par.New(2)
	defer workers.Close()
	for _, d := range longtest.Pick([]int{96}, []int{20, 96, 300}, []int{20, 96, 300}) {
		for seed := range uint64(2) {
			rng := pointtest.Rand(seed + 5)
			p, what := pointtest.Hard(rng, 1000, d)
			radius := pointtest.TypicalDistance(p, rng) / 1.5
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(radius), &Options{CutoffRadius: radius, Workers: workers}))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s, d=%d", what, d)
			compareLists(t, name, graphNeighbours(op), bruteNeighbours(p, radius))
			op, err = as[*truncated.CSR](openCSR(t.Context(), p, Sigma(math.Sqrt(mustPoints(t, p).Extent2())), &Options{Neighbours: 10, Workers: workers}))
			if err != nil {
				t.Fatal(err)
			}
			compareLists(t, name+", nearest", graphNeighbours(op), bruteNearest(p, 10))
		}
	}
}

// Long rows that make one group stay in their order, and have the same neighbours at every
// level and for any number of workers.
func TestOneGroupOfLongRows(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	const n, d, clusters = 1100, 960, 8
	rng := pointtest.Rand(8)
	centres := pointtest.Fill(clusters*d, func(int) float64 { return 0.4 * rng.NormFloat64() })
	p := blas32.General{Rows: n, Cols: d, Stride: d, Data: pointtest.Fill(n*d, func(i int) float64 {
		return float64(centres[i/d%clusters*d+i%d]) + rng.NormFloat64()
	})}
	var distances []float64
	for j := range n - 1 {
		distances = append(distances, math.Sqrt(rows.Dist2(rows.View32(p).Row(0), rows.View32(p).Row(j+1))))
	}
	slices.Sort(distances)
	radius := distances[n/10]
	want := bruteNeighbours(p, radius)
	for count := 1; count <= 2; count++ {
		workers := par.New(count)
		defer workers.Close()
		levels := simd.Levels()
		if count > 1 {
			levels = []simd.Level{simd.Best()}
		}
		for _, level := range levels {
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(radius), &Options{CutoffRadius: radius, Workers: workers, Kernels: simd.At(level)}))
			if err != nil {
				t.Fatal(err)
			}
			if op.Found.Balls || op.Order() != nil {
				t.Fatalf("%v: balls %v, in order: %v", level, op.Found.Balls, op.Order() != nil)
			}
			compareLists(t, fmt.Sprint(level, ", workers ", count), graphNeighbours(op), want)
		}
	}
}

func compareLists(t *testing.T, name string, got, want [][]int) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("%s: row %d has neighbours %v, want %v", name, i, got[i], want[i])
		}
	}
}

// bruteNearest is the definition of the graph of nearest neighbours.
func bruteNearest(p blas32.General, k int) [][]int {
	n, points := p.Rows, rows.View32(p)
	k = min(k, n-1)
	near := make([]map[int]bool, n)
	for i := range near {
		near[i] = map[int]bool{}
	}
	all := make([][]float64, n) // squared distances, the same from both ends
	for i := range all {
		all[i] = make([]float64, n)
		for j := range i {
			all[i][j] = rows.Dist2(points.Row(i), points.Row(j))
			all[j][i] = all[i][j]
		}
	}
	for i := range n {
		others := make([]int, 0, n)
		for j := range n {
			if j != i {
				others = append(others, j)
			}
		}
		d2 := all[i]
		slices.SortStableFunc(others, func(a, b int) int {
			switch {
			case d2[a] < d2[b]:
				return -1
			case d2[a] > d2[b]:
				return 1
			}
			return a - b
		})
		for _, j := range others[:k] {
			near[i][j], near[j][i] = true, true
		}
	}
	out := make([][]int, n)
	for i := range out {
		for j := range near[i] {
			out[i] = append(out[i], j)
		}
		slices.Sort(out[i])
	}
	return out
}
