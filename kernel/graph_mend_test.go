package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// plainMend returns the neighbours that rows have after the repair of a graph cut at a
// radius, by a sort of all pairs: equal points are one point, known by its first row.
func plainMend(p blas32.General, radius float64, b Bandwidth) [][]int {
	x := pointtest.Open(p)
	first := make([]int, p.Rows)
	var points []int
	for i := range first {
		first[i] = slices.IndexFunc(points, func(j int) bool { return x.Dist2(i, j) == 0 })
		if first[i] < 0 {
			first[i], points = len(points), append(points, i)
		}
	}
	linked := make([][]bool, len(points))
	entries := 0
	for i := range linked {
		linked[i] = make([]bool, len(points))
		for j := range linked[i] {
			linked[i][j] = j != i && x.Dist2(points[i], points[j]) <= rows.RadiusSquared(radius)
			if linked[i][j] {
				entries++
			}
		}
	}
	k := min(max(int(math.Round(float64(entries)/float64(len(points)))), 1), truncated.MostMended, len(points)-1)
	var isolated []int
	for i := range points {
		alone := !slices.Contains(linked[i], true)
		for row := range first {
			alone = alone && (first[row] != i || row == points[i])
		}
		if alone {
			isolated = append(isolated, i)
		}
	}
	for _, i := range isolated {
		var others []int
		for j := range points {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortStableFunc(others, func(a, c int) int {
			switch u, v := x.Dist2(points[i], points[a]), x.Dist2(points[i], points[c]); {
			case u < v:
				return -1
			case u > v:
				return 1
			}
			return points[a] - points[c]
		})
		for _, j := range others[:k] {
			if math.Sqrt(x.Dist2(points[i], points[j])) <= b.own.MaxRadius() {
				linked[i][j], linked[j][i] = true, true
			}
		}
	}
	out := make([][]int, p.Rows)
	for i := range out {
		for j := range out {
			if j != i && (first[i] == first[j] || linked[first[i]][first[j]]) {
				out[i] = append(out[i], j)
			}
		}
	}
	return out
}

// An isolated row of a fixed graph gets its nearest points, and nothing else changes: few
// and many isolated rows, with ties and equal points, in few and many dimensions.
func TestRepairOfAFixedGraph(t *testing.T) {
	lattice := blas32.General{Rows: 300, Cols: 2, Stride: 2, Data: make([]float32, 600)}
	for i := range 300 {
		lattice.Data[2*i], lattice.Data[2*i+1] = float32(i*7%20), float32(i%15)
	}
	sets := map[string]blas32.General{"lattice": lattice, "equals": withEquals(300, 2), "equals in many dimensions": withEquals(300, 12)}
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{3, 12} {
			sets[fmt.Sprintf("%s, %d", kind, d)] = pointtest.Make(kind, 250, d, uint64(d))
		}
	}
	workers := par.New(3)
	defer workers.Close()
	few, many := 0, 0
	for name, p := range sets {
		scale := pointtest.TypicalDistance(p, pointtest.Rand(1))
		for _, share := range []float64{0.01, 0.1, 0.4} {
			radius := scale * share
			b := Sigma(radius / 2)
			want := plainMend(p, radius, b)
			opt := &Options{CutoffRadius: radius, Isolated: Keep, Workers: workers}
			kept, err := openCSR(t.Context(), p, b, opt)
			if err != nil {
				t.Fatal(err)
			}
			if isolated := kept.Certificate().Isolated; isolated > truncated.MostScanned {
				many++
			} else if isolated > 0 {
				few++
			}
			opt.Isolated = Repair
			stored, err := openCSR(t.Context(), p, b, opt)
			if err != nil {
				t.Fatal(err)
			}
			built := []Truncated{stored}
			if p.Cols <= base.MaxDirect {
				other, err := openPairs(t.Context(), p, b, opt)
				if err != nil {
					t.Fatal(err)
				}
				built = append(built, other)
			}
			for _, op := range built {
				m, err := op.Matrix(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !m.IsSymmetric() {
					t.Fatalf("%s, radius %g: %s is not symmetric", name, radius, op.Name())
				}
				for i, list := range want {
					ind, _ := m.Row(i, nil)
					if !slices.EqualFunc(ind, list, func(a uint32, b int) bool { return int(a) == b }) {
						t.Fatalf("%s, radius %g: in %s row %d has the neighbours %v, want %v", name, radius, op.Name(), i, ind, list)
					}
				}
				checkAgainstDense(t, op, p, b)
			}
		}
	}
	if few == 0 || many == 0 {
		t.Errorf("%d sets with few isolated rows, %d with many", few, many)
	}
}
