package grid

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

func sigmaOf(sigma float64) base.Bandwidth { return base.BandwidthOf(1 / (2 * sigma * sigma)) }

// gridFor makes the operator of given cells and nodes, with no row out of it.
func gridFor(t pointtest.Tester, p blas32.General, b base.Bandwidth, width, reach float64, nodes int, all bool, workers *par.Workers) *Grid {
	t.Helper()
	o := &base.Options{Tolerance: 0.999, Workers: workers}
	if err := o.SetDefaults(); err != nil {
		t.Fatalf("%v", err)
	}
	pts := pointtest.Open(p)
	choice := &gridChoice{nodes: nodes, all: all}
	var ok bool
	if choice.lattice, ok = lattice.New(pts, b.Sigma(), width); !ok {
		t.Fatalf("no lattice")
	}
	choice.lattice.SetReach(reach)
	op, err := newGrid(t.Context(), pts, b, choice, o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return op
}

// The largest errors of entries that were measured when the bound was found, at
// rho = 1/2.
func TestEntryBounds(t *testing.T) {
	for _, c := range []struct {
		d, p        int
		most, bound float64
	}{{2, 8, 3.0e-7, 1.1e-6}, {2, 6, 3.7e-5, 1.2e-4}, {3, 8, 4.1e-7, 1.7e-6}} {
		p := pointtest.Make("uniform", 200, c.d, 5)
		op := gridFor(t, p, sigmaOf(0.25), 1, 7, c.p, true, nil)
		if rho := op.Lattice.Width[0] / 2; rho < 0.49 || rho > 0.5 {
			t.Fatalf("rho = %g", rho)
		}
		cert := op.Certificate()
		if cert.Kind != base.Absolute || cert.EntryAbs > 1.05*c.bound || cert.EntryAbs < 0.8*c.bound {
			t.Errorf("d=%d p=%d: EntryAbs %.3g, want about %.2g", c.d, c.p, cert.EntryAbs, c.bound)
		}
		got, want := pointtest.Entries(t, op), pointtest.PlainWeights(pointtest.PermuteRows(p, op.Order()), sigmaOf(0.25).Gamma())
		worst := 0.0
		for i := range got {
			for j := range got[i] {
				worst = max(worst, math.Abs(got[i][j]-want[i][j]))
			}
		}
		if worst > 1.1*c.most || worst < 0.2*c.most {
			t.Errorf("d=%d p=%d: an entry is off by %.2g, measured before %.2g", c.d, c.p, worst, c.most)
		}
	}
}

// Sweeps over all cells and transfers between occupied ones are the same sums.
func TestGridFormsAgree(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for d := 1; d <= 4; d++ {
		apart := false // some cell is empty
		for _, kind := range []string{"uniform", "collinear", "lattice", "identical"} {
			p := pointtest.Make(kind, 200>>d, d, 3)
			b := sigmaOf(pointtest.TypicalDistance(p, pointtest.Rand(4)) / 3)
			x := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(5), p.Rows, 3))
			var want []float64
			for _, all := range []bool{true, false} {
				op := gridFor(t, p, b, 1.5, 3, 4, all, workers)
				// Where each cell holds a point the forms look the same.
				occupied := op.Cells.Count() - empty(op.Cells)
				if all && op.Cells.Count() != int(op.Lattice.Cells) || !all && op.Cells.Count() != occupied {
					t.Fatal("the other form was built")
				}
				apart = apart || all && op.Cells.Count() != occupied
				got := pointtest.Zeros64(p.Rows, 3)
				if err := op.Apply64(t.Context(), got, x); err != nil {
					t.Fatal(err)
				}
				if all {
					want = got.Data
					continue
				}
				for i, v := range got.Data {
					if math.Abs(v-want[i]) > 1e-11 {
						t.Fatalf("d=%d %s: %g by transfers, %g by sweeps", d, kind, v, want[i])
					}
				}
			}
		}
		if !apart {
			t.Errorf("d=%d: every cell holds a point", d)
		}
	}
}

// empty returns how many of the kept cells hold no point.
func empty(cells *lattice.Sorted) (count int) {
	for _, points := range cells.Counts() {
		if points == 0 {
			count++
		}
	}
	return count
}

// The scratch memory of the workers is part of the estimate.
func TestGridCostHasTheWorkers(t *testing.T) {
	p := pointtest.Open(pointtest.Make("uniform", 300, 4, 1))
	l, _ := lattice.New(p, 0.2, 1)
	l.SetReach(3)
	choice := gridChoice{lattice: l, nodes: 10, occupied: 100}
	four := par.New(4)
	defer four.Close()
	one, more := choice.cost(p, &base.Options{Columns: 1}), choice.cost(p, &base.Options{Columns: 1, Workers: four})
	if want := int64(3 * 8 * (4 + 1) * 10_000); more.PeakBytes-one.PeakBytes < want {
		t.Errorf("three more workers take %d bytes, want at least %d", more.PeakBytes-one.PeakBytes, want)
	}
}

// So has what grid computes, whether its cells are all kept or only the occupied ones.
func TestEveryLevelInterpolatesTheSame(t *testing.T) {
	t.Parallel()
	for d := 1; d <= 4; d++ {
		for _, all := range []bool{true, false} {
			t.Run(fmt.Sprintf("d=%d/all=%v", d, all), func(t *testing.T) {
				p := pointtest.Make("uniform", 500, d, 5)
				b := sigmaOf(pointtest.TypicalDistance(p, pointtest.Rand(3)) / float64(4-d/3*2)) // two cells an axis and more
				x := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(4), p.Rows, 3))
				op := gridFor(t, p, b, 1.7, 4, 9-d, all, nil)
				var want, wantDegrees []float64
				for _, kernels := range simd.All() {
					op.Kernels = kernels
					if _, err := op.fill(t.Context(), 9-d); err != nil {
						t.Fatal(err)
					}
					got := pointtest.Zeros64(p.Rows, 3)
					if err := op.Apply64(t.Context(), got, x); err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want, wantDegrees = got.Data, op.Degrees()
					} else if !slices.Equal(got.Data, want) || !slices.Equal(op.Degrees(), wantDegrees) {
						t.Errorf("%v differs from %v", kernels, simd.Generic)
					}
				}
			})
		}
	}
}

// A cell that holds 3,000,000 points is cut into pieces that follow each other.
func TestPiecesOfAFullCell(t *testing.T) {
	pieces, slots := splitPieces(&lattice.Sorted{Start: []uint32{0, 3_000_000}})
	end := 0
	for _, piece := range pieces {
		if piece.lo != end || piece.hi-piece.lo > lattice.MostPoints {
			t.Fatalf("points %d to %d behind %d", piece.lo, piece.hi, end)
		}
		end = piece.hi
	}
	if end != 3_000_000 || slots != 733 {
		t.Errorf("%d points in %d slots", end, slots)
	}
}
