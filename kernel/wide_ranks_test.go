package kernel

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/grid"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/par"
)

// A wideCase is an operator poly or grid that ranks share.
type wideCase struct {
	name  string
	build func(o *Options) (Operator64, error)
	is    func(op Operator64) bool // what the case is there for
}

// crowded has more points in one cell of a grid than are summed one after the other.
func crowded(d int) blas32.General {
	p := pointtest.Make("uniform", 3*lattice.MostPoints, d, 7)
	for i := range 2*lattice.MostPoints + 500 {
		for c := range d {
			p.Data[d*i+c] = 0.4 + p.Data[d*i+c]*0.01
		}
	}
	return p
}

// strewn has a crowd, and next to it some points far from all others. What these see of the
// crowd is far from each other in the order of the cells.
func strewn() blas32.General {
	p := pointtest.Make("uniform", 4000, 2, 3)
	for i := range 6 {
		p.Data[2*(i*500)], p.Data[2*(i*500)+1] = 0.2*float32(i), 1.4
	}
	return p
}

func polyCases(t *testing.T) (all []wideCase) {
	p := pointtest.Make("uniform", 1700, 3, 5)
	for order, tolerance := range []float64{0.1, 3e-3, 1e-4, 3e-6} {
		all = append(all,
			wideCase{fmt.Sprintf("poly of order %d", order),
				func(o *Options) (Operator64, error) {
					o.Tolerance = tolerance
					return openPoly(t.Context(), p, Sigma(3), o)
				},
				func(op Operator64) bool {
					poly := roomOf(op).(*poly.Poly)
					return poly.Series.Order() == order && poly.Single
				}},
			wideCase{fmt.Sprintf("poly of order %d in float64", order),
				func(o *Options) (Operator64, error) {
					o.Tolerance = tolerance
					return openPoly(t.Context(), pointtest.Widen(p), Sigma(3), o)
				},
				func(op Operator64) bool {
					poly := roomOf(op).(*poly.Poly)
					return poly.Series.Order() == order && !poly.Single
				}})
	}
	unit, err := NewUnitRows(p, UnitOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	low := pointtest.LowRank(600, 200, 6)
	return append(all,
		wideCase{"poly along axes",
			func(o *Options) (Operator64, error) {
				o.Tolerance = 1e-3
				return openPoly(t.Context(), low, Sigma(1.5), o)
			},
			func(op Operator64) bool { return roomOf(op).(*poly.Poly).Low != nil }},
		wideCase{"poly of unit rows",
			func(o *Options) (Operator64, error) { return unit.Poly(t.Context(), Sigma(3), 3, o) },
			func(op Operator64) bool { return roomOf(op).(*poly.Poly).Frame.InPlace }},
		wideCase{"poly by Taylor's polynomial",
			func(o *Options) (Operator64, error) {
				return openPoly(t.Context(), pointtest.ClusteredUnitRows(1200, 64, 20), Sigma(5), o)
			},
			func(op Operator64) bool { return roomOf(op).(*poly.Poly).Series.Taylor }},
		wideCase{"poly of one point",
			func(o *Options) (Operator64, error) {
				return openPoly(t.Context(), pointtest.Zeros32(1, 3), Sigma(1), o)
			},
			func(op Operator64) bool { return op.N() == 1 }})
}

func gridCases(t *testing.T) (all []wideCase) {
	of := func(name string, p blas32.General, sigma float64, opt Options, is func(op *grid.Grid) bool) {
		all = append(all, wideCase{"grid " + name,
			func(o *Options) (Operator64, error) {
				opt := opt
				opt.Ranks, opt.Workers = o.Ranks, o.Workers
				return openGrid(t.Context(), p, Sigma(sigma), &opt)
			},
			func(op Operator64) bool { return is(roomOf(op).(*grid.Grid)) }})
	}
	for d, sigma := range []float64{0.01, 0.05, 0.25, 0.6} {
		of(fmt.Sprintf("in %d dimensions", d+1), pointtest.Make("uniform", 5000, d+1, 9), sigma, Options{Tolerance: 1e-3},
			func(op *grid.Grid) bool { return op.Slots == 0 && op.Out == nil && len(op.Pieces) > 3 })
	}
	of("of cells along a line", pointtest.Make("collinear", 5000, 2, 4), 0.01, Options{}, func(op *grid.Grid) bool { return op.Cells.Count() < int(op.Lattice.Cells) })
	of("of crowds on a line", crowded(1), 0.1, Options{Tolerance: 1e-6}, func(op *grid.Grid) bool { return op.Slots > 1 })
	of("of crowds", crowded(2), 0.1, Options{Tolerance: 1e-6}, func(op *grid.Grid) bool { return op.Slots > 1 })
	of("of all points in a cell", pointtest.Zeros32(2*lattice.MostPoints+9, 2), 1, Options{}, func(op *grid.Grid) bool { return op.Cells.Count() == 1 && op.Slots == 3 })
	of("with rows out of it", strewn(), 0.02, Options{}, func(op *grid.Grid) bool { return op.Out != nil && len(op.Direct.Rows) == 0 })
	of("with direct rows", strewn(), 0.05, Options{Isolated: Repair}, func(op *grid.Grid) bool { return len(op.Direct.Rows) > 0 })
	of("of few points", pointtest.Make("uniform", 3, 2, 5), 1, Options{}, func(op *grid.Grid) bool { return len(op.Pieces) == 1 })
	return all
}

// Every bit of poly and grid is that of one process, whoever has made it. Nobody reads rows of
// an iterate that belong to others: these are not numbers.
func TestWideOperatorsOfRanks(t *testing.T) {
	t.Parallel()
	for _, c := range append(polyCases(t), gridCases(t)...) {
		t.Run(c.name, func(t *testing.T) {
			want, cost := wideNumbers(t, c)
			for _, size := range longtest.Pick([]int{3}, []int{1, 2, 3, 4, 7}, []int{1, 2, 3, 4, 7}) {
				if err := cluster.Local(size, func(ranks *par.Ranks) error {
					workers := par.New(1 + size%2)
					defer workers.Close()
					op, err := c.build(&Options{Ranks: ranks, Workers: workers})
					if err != nil {
						return err
					}
					got, err := allNumbers(t, op)
					switch {
					case err != nil:
						return err
					case !slices.Equal(got, want):
						return errors.New("other numbers than one process")
					case op.Cost().NNZ != cost.NNZ:
						return fmt.Errorf("%d weights, want %d", op.Cost().NNZ, cost.NNZ)
					}
					return nil
				}); err != nil {
					t.Errorf("%d ranks: %v", size, err)
				}
			}
		})
	}
}

// wideNumbers returns what one process makes of a case.
func wideNumbers(t *testing.T, c wideCase) (numbers, Cost) {
	t.Helper()
	op, err := c.build(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !c.is(op) {
		t.Fatal("the case is another")
	}
	all, err := allNumbers(t, op)
	if err != nil {
		t.Fatal(err)
	}
	return all, op.Cost()
}

// allNumbers returns what an operator is and does, in either precision.
func allNumbers(t *testing.T, op Operator64) (numbers, error) {
	all, err := runNumbers(t.Context(), op, []int{1, 3})
	if err != nil {
		return nil, err
	}
	wide, err := runNumbers64(t.Context(), op)
	return append(all, wide...), err
}

// A step of poly and of grid asks no rank for rows of the iterate, unless a grid has direct
// rows.
func TestWideStepsLeaveTheIterateWithItsRanks(t *testing.T) {
	t.Parallel()
	for _, c := range append(polyCases(t), gridCases(t)...) {
		if err := cluster.Local(2, func(ranks *par.Ranks) error {
			op, err := c.build(&Options{Ranks: ranks})
			if err != nil {
				return err
			}
			direct := false
			if grid, ok := roomOf(op).(*grid.Grid); ok {
				direct = len(grid.Direct.Rows) > 0
			}
			x := pointtest.RandomBlock(pointtest.Rand(1), op.N(), 1)
			var st Stats
			if err := st.Gather(x, nil); err != nil {
				return err
			}
			spoil(op, x.Data, 1)
			if err := op.Step(t.Context(), pointtest.Zeros32(op.N(), 1), x, new(Step), &st); err != nil {
				return err
			}
			lo, hi := op.Part()
			for i, v := range x.Data {
				if spoiled := v != v; spoiled != (i < lo || i >= hi) && !direct {
					return fmt.Errorf("row %d has travelled", i)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
