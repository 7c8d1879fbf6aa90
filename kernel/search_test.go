package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// bruteNeighbours is the definition: distances in float64, true L2 radius. A distance is
// the same from both ends.
func bruteNeighbours(p blas32.General, radius float64) [][]int {
	out := make([][]int, p.Rows)
	for i := range p.Rows {
		for j := i + 1; j < p.Rows; j++ {
			sum := 0.0
			for c := range p.Cols {
				e := float64(p.Data[i*p.Stride+c]) - float64(p.Data[j*p.Stride+c])
				sum += float64(e * e)
			}
			if math.Sqrt(sum) <= radius {
				out[i], out[j] = append(out[i], j), append(out[j], i)
			}
		}
	}
	return out
}

// graphNeighbours unfolds a CSR operator into neighbour lists of given rows.
func graphNeighbours(op *truncated.CSR) [][]int {
	w := op.Weights
	given := func(row int) int {
		if op.Order() == nil {
			return row
		}
		return int(op.Order()[row])
	}
	out := make([][]int, op.N())
	for g := range w.Rows() {
		for i := op.First(g); i < op.First(g+1); i++ {
			list := []int{}
			for j := op.First(g); j < op.First(g+1); j++ {
				if j != i {
					list = append(list, given(j))
				}
			}
			ind, _ := w.Row(g, nil)
			for _, h := range ind {
				for j := op.First(int(h)); j < op.First(int(h)+1); j++ {
					list = append(list, given(j))
				}
			}
			slices.Sort(list)
			out[given(i)] = list
		}
	}
	return out
}

func checkNeighbours(t pointtest.Tester, p blas32.General, radius float64, workers *par.Workers) {
	t.Helper()
	// The bandwidth has no influence as long as no weight underflows.
	b := Sigma(max(radius, 1e-30) / 2)
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{CutoffRadius: max(radius, 1e-300), Workers: workers}))
	if err != nil {
		t.Fatalf("n=%d d=%d radius=%g: %v", p.Rows, p.Cols, radius, err)
	}
	got, want := graphNeighbours(op), bruteNeighbours(p, radius)
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("n=%d d=%d radius=%g: row %d has neighbours %v, want %v", p.Rows, p.Cols, radius, i, got[i], want[i])
		}
	}
	if !op.Weights.IsSymmetric() {
		t.Fatalf("n=%d d=%d radius=%g: weights are not symmetric", p.Rows, p.Cols, radius)
	}
}

// searchDims are all dimensions of the cell list and some of the search by codes.
var searchDims = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}

// Radii that are distances of the set are the hardest: a pair on the boundary
// must be in.
func TestNeighboursEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 90, searchDims)
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "radius seed"))
		radius := pointtest.TypicalDistance(p, rng)
		if rapid.Bool().Draw(t, "scaled") {
			radius *= math.Exp2(rapid.Float64Range(-8, 2).Draw(t, "octaves"))
		}
		checkNeighbours(t, p, radius, nil)
	})
}

func TestNeighboursOfLargerSets(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 2, 3, 5, 8, 12} {
			t.Run(fmt.Sprintf("kind=%s/d=%d", kind, d), func(t *testing.T) {
				p := pointtest.Make(kind, 700, d, 7)
				radius := pointtest.TypicalDistance(p, pointtest.Rand(3)) / 3
				checkNeighbours(t, p, radius, workers)
			})
		}
	}
}

func TestNeighboursAfterTranslation(t *testing.T) {
	for _, far := range []struct{ offset, unit float64 }{{1e6, 1.0 / 16}, {1e8, 8}} {
		for _, d := range []int{1, 2, 3, 6, 11} {
			// Multiples of the unit keep their differences after the translation.
			rng := pointtest.Rand(uint64(d))
			p := blas32.General{Rows: 200, Cols: d, Stride: d, Data: pointtest.Fill(200*d, func(int) float64 { return float64(rng.IntN(64)) * far.unit })}
			moved := blas32.General{Rows: 200, Cols: d, Stride: d, Data: pointtest.Fill(200*d, func(i int) float64 { return float64(p.Data[i]) + far.offset })}
			radius := pointtest.TypicalDistance(p, rng)
			want := bruteNeighbours(p, radius)
			checkNeighbours(t, moved, radius, nil)
			for i, list := range bruteNeighbours(moved, radius) {
				if !slices.Equal(list, want[i]) {
					t.Fatalf("the test itself is wrong: translation changed row %d", i)
				}
			}
		}
	}
}

// Whole lattices in clusters of many points, the radius on the faces of boxes.
func TestNeighboursOnALattice(t *testing.T) {
	square := blas32.General{Rows: 900, Cols: 2, Stride: 2, Data: pointtest.Fill(1800, func(i int) float64 {
		return float64(i / 2 / (1 + 29*(1-i%2)) % 30)
	})}
	cube := blas32.General{Rows: 1000, Cols: 3, Stride: 3, Data: pointtest.Fill(3000, func(i int) float64 {
		return float64(i / 3 / []int{100, 10, 1}[i%3] % 10)
	})}
	for _, radius := range []float64{1, 2, 5, 8, 10} {
		checkNeighbours(t, square, radius, nil)
		checkNeighbours(t, cube, radius, nil)
	}
}

// Points far away from all others change nobody's neighbours.
func TestNeighboursBesideOutliers(t *testing.T) {
	t.Parallel()
	for _, d := range []int{1, 2, 3, 5} {
		p, radius := pointtest.Outliers(d)
		checkNeighbours(t, p, radius, nil)
	}
}

func TestTinyCutoffTakesNoDenseGrid(t *testing.T) {
	// Extent 1e7 and radius 1e-6: 10^26 cells of the plane.
	p := pointtest.Make("outlier", 300, 2, 5)
	p.Data[10], p.Data[11] = p.Data[20], p.Data[21]+1e-7
	checkNeighbours(t, p, 1e-6, nil)
}

// Around the radius at which cells cannot be as small as wanted, their number
// within the radius changes.
func TestCellsLargerThanWanted(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		limit := 1e7 / float64(int64(1)<<(60/max(d, 2)))
		for _, ratio := range []float64{0.3, 0.6, 0.9, 1.1, 1.5, 1.9, 2.1, 3} {
			rng := pointtest.Rand(uint64(d))
			radius := limit * ratio
			p := blas32.General{Rows: 200, Cols: d, Stride: d, Data: pointtest.Fill(200*d, func(i int) float64 {
				if i < d {
					return 1e7
				}
				return 4 * radius * rng.Float64()
			})}
			checkNeighbours(t, p, radius, nil)
		}
	}
}

func TestSingleAndPairsOfPoints(t *testing.T) {
	for _, d := range []int{1, 3, 8, 9} {
		one := pointtest.Make("uniform", 1, d, 1)
		checkNeighbours(t, one, 1, nil)
		two := pointtest.Make("uniform", 2, d, 1)
		exact := math.Sqrt(rows.Dist2(rows.View32(two).Row(0), rows.View32(two).Row(1)))
		checkNeighbours(t, two, exact, nil)
		checkNeighbours(t, two, math.Nextafter(exact, 0), nil)
	}
}

// What a search takes in addition to the graph shrinks with the number of points.
func TestSmallGraphsTakeLittle(t *testing.T) {
	p := pointtest.Make("uniform", 500, 2, 1)
	workers := par.New(1)
	defer workers.Close()
	o := &Options{CutoffRadius: 0.1, MaxMemory: 1 << 20, Workers: workers}
	if _, err := openCSR(t.Context(), p, Sigma(0.1), o); err != nil {
		t.Error(err)
	}
	if _, err := openPairs(t.Context(), p, Sigma(0.1), o); err != nil {
		t.Error(err)
	}
}
