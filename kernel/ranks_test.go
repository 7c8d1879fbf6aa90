package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A rankCase is an operator that ranks share.
type rankCase struct {
	name     string
	operator string
	points   blas32.General
	sigma    float64
	options  Options
	columns  []int // nil for all that are tried
	halo     bool  // two ranks exchange halos
}

// remote has points of which some have one neighbour with a tiny weight, and some none.
func remote() blas32.General {
	p := pointtest.Make("uniform", 6000, 2, 3)
	for i := range 40 {
		at := p.Data[2*(i*131):]
		at[0], at[1] = 3+float32(i/2), float32(i%2)*0.095 // at 9.5 sigma of each other
		if i >= 20 {
			at[1] = float32(i)
		}
	}
	return p
}

// fewEqual has a large group of equal points, and some pairs.
func fewEqual() blas32.General {
	p, rng := pointtest.Make("uniform", 6000, 2, 11), pointtest.Rand(12)
	for i := range 1500 {
		copy(p.Data[2*i:][:2], p.Data[:2])
	}
	for range 200 {
		copy(p.Data[2*rng.IntN(p.Rows):][:2], p.Data[2*rng.IntN(p.Rows):][:2])
	}
	return p
}

func rankCases() []rankCase {
	plane, space := pointtest.Make("uniform", 5500, 2, 1), pointtest.Make("clustered", 2500, 12, 2)
	cloud := pointtest.Make("uniform", 1500, 14, 2) // searched by codes
	crowded := blas32.General{Rows: cloud.Rows, Cols: cloud.Cols, Stride: cloud.Stride, Data: slices.Clone(cloud.Data)}
	for i := range 180 {
		copy(crowded.Data[8*i*14:][:14], crowded.Data[i%7*14:])
	}
	line := pointtest.Make("uniform", 5000, 1, 6)
	fixed := Options{CutoffRadius: 0.05}
	wide := pointtest.TypicalDistance(space, pointtest.Rand(2))
	return []rankCase{
		{name: "plane", operator: "csr", points: plane, sigma: 0.02, options: fixed, halo: true},
		{name: "equal points", operator: "csr", points: fewEqual(), sigma: 0.02, options: fixed, halo: true},
		{name: "plane", operator: "pairs", points: plane, sigma: 0.02, options: fixed, columns: []int{2}, halo: true},
		{name: "equal points", operator: "pairs", points: fewEqual(), sigma: 0.02, options: fixed, columns: []int{3}, halo: true},
		{name: "remote points", operator: "csr", points: remote(), sigma: 0.01, options: Options{CutoffRadius: 0.1}, columns: []int{2, 3}, halo: true},
		{name: "remote points repaired", operator: "csr", points: remote(), sigma: 0.01, options: Options{CutoffRadius: 0.1, Isolated: Repair}, columns: []int{2}, halo: true},
		{name: "compact", operator: "csr", points: plane, sigma: 0.02, options: Options{CutoffRadius: 0.05, Layout: sparse.Compact16}, columns: []int{3}, halo: true},
		{name: "nearest", operator: "csr", points: plane, sigma: 0.02, options: Options{Neighbours: 30, SelfTuned: true}, columns: []int{2}, halo: true},
		{name: "many dimensions", operator: "csr", points: cloud, sigma: 0.3, columns: []int{1, 3, 8}},
		{name: "many dimensions, equal points", operator: "csr", points: crowded, sigma: 0.3, columns: []int{3}},
		{name: "every pair", operator: "csr", points: pointtest.Make("uniform", 700, 2, 4), sigma: 10, columns: []int{2}},
		{name: "few", operator: "csr", points: pointtest.Make("uniform", 3, 2, 5), sigma: 1, columns: []int{2}, halo: true},
		{name: "one", operator: "dense", points: pointtest.Make("uniform", 1, 2, 5), sigma: 1, columns: []int{2}},
		{name: "many dimensions", operator: "dense", points: pointtest.Make("clustered", 2100, 5, 2), sigma: 0.3, columns: []int{1, 2, 3}},
		{name: "many dimensions", operator: "poly", points: space, sigma: 4 * wide, columns: []int{1, 2, 3, 8}},
		{name: "plane", operator: "grid", points: plane, sigma: 0.1, columns: []int{1, 2, 3, 8}},
		{name: "line", operator: "grid", points: line, sigma: 0.1, columns: []int{2}},
	}
}

// build builds the operator of a case.
func (c *rankCase) build(ctx context.Context, ranks *par.Ranks) (Operator, error) {
	o := c.options
	o.Ranks, o.Operator = ranks, c.operator
	return Build(ctx, c.points, Sigma(c.sigma), &o)
}

var rankColumns = []int{1, 2, 3, 8, 17}

// stepOf returns a step for k columns: every form, with labels and without.
func stepOf(n, k int, order []uint32) (*Step, error) {
	s := &Step{Form: Form(k % 2), Coefficient: 0.3}
	if k == 1 || k == 8 {
		return s, nil
	}
	table := EqualTable()
	if s.Form == Attract {
		table = BalancedTable()
	}
	labels, err := NewLabels(pointtest.RandomLabels(pointtest.Rand(4), n, 7, true), table, true)
	if err != nil {
		return nil, err
	}
	s.Labels, err = labels.Permute(order)
	return s, err
}

// numbers are what steps have made, bit by bit.
type numbers []uint64

func (all *numbers) add(v ...float64) {
	for _, x := range v {
		*all = append(*all, math.Float64bits(x))
	}
}

func (all *numbers) addStats(st *Stats) {
	all.add(st.Objective, st.Change, st.Spread, st.MaxAbs)
	all.add(st.Mean...)
	all.add(st.own.ClassSums...)
}

func (all *numbers) addRows(x blas32.General) {
	for i := range x.Rows {
		for _, v := range x.Data[i*x.Stride:][:x.Cols] {
			all.add(float64(v))
		}
	}
}

// spoil sets the rows that belong to other ranks to NaN: nobody may read them.
func spoil[T float32 | float64](op Operator, data []T, stride int) {
	lo, hi := op.Part()
	for i := range data {
		if row := i / stride; row < lo || row >= hi {
			data[i] = T(math.NaN())
		}
	}
}

// runNumbers returns what an operator is and does.
func runNumbers(ctx context.Context, op Operator, columns []int) (all numbers, err error) {
	n := op.N()
	all.add(op.Degrees()...)
	cert := op.Certificate()
	all.add(cert.RowMax, cert.RowP99, cert.EntryRel, cert.EntryAbs, cert.Rounding, float64(cert.Isolated))
	for _, v := range cert.Row {
		all.add(float64(v))
	}
	for _, i := range op.Order() {
		all = append(all, uint64(i))
	}
	for _, k := range columns {
		step, err := stepOf(n, k, op.Order())
		if err != nil {
			return nil, err
		}
		gap := k % 3
		x, next, rng := gapped(n, k, gap), gapped(n, k, gap), pointtest.Rand(uint64(k))
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		if err := op.Apply(ctx, next, x); err != nil {
			return nil, err
		}
		all.addRows(next)
		var st Stats
		if err := st.Gather(x, step.Labels); err != nil {
			return nil, err
		}
		for range 3 {
			spoil(op, x.Data, x.Stride)
			spoil(op, next.Data, x.Stride)
			if err := op.Step(ctx, next, x, step, &st); err != nil {
				return nil, err
			}
			all.addStats(&st)
			x, next = next, x
		}
		if err := op.Complete(ctx, x); err != nil {
			return nil, err
		}
		all.addRows(x)
	}
	return all, nil
}

func TestSameBitsForAnyNumberOfRanks(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{"background": true} // by TestSameBitsIn64ForAnyNumberOfRanks
	for _, c := range rankCases() {
		tried[c.operator] = true
		if c.columns == nil {
			c.columns = rankColumns
		}
		t.Run(c.operator+" "+c.name, func(t *testing.T) {
			op, err := c.build(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if op.Name() != c.operator {
				t.Fatalf("%s in place of %s", op.Name(), c.operator)
			}
			want, err := runNumbers(t.Context(), op, c.columns)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range longtest.Pick([]int{3}, []int{1, 2, 3, 4, 7}, []int{1, 2, 3, 4, 7}) {
				err := cluster.Local(size, func(ranks *par.Ranks) error {
					workers := par.New(1 + size%2)
					defer workers.Close()
					c := c
					c.options.Workers = workers
					op, err := c.build(t.Context(), ranks)
					if err != nil {
						return err
					}
					got, err := runNumbers(t.Context(), op, c.columns)
					if err != nil {
						return err
					}
					if !slices.Equal(got, want) {
						return fmt.Errorf("other numbers than one process")
					}
					if used := graphstats.TrafficOf(op, 1).Overlapped; size == 2 && used != c.halo {
						return fmt.Errorf("halo is %v", used)
					}
					return nil
				})
				if err != nil {
					t.Errorf("%d ranks: %v", size, err)
				}
			}
		})
	}
	for _, name := range OperatorNames() {
		if !tried[name] {
			t.Errorf("operator %s is not tried", name)
		}
	}
}

// wideOperators builds the operators of unit rows.
func wideOperators(t *testing.T) map[string]func(ranks *par.Ranks) (Operator64, error) {
	p := pointtest.Make("clustered", 1100, 4, 3)
	unit, err := NewUnitRows(p, UnitOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(ranks *par.Ranks) (Operator64, error){
		"dense": func(r *par.Ranks) (Operator64, error) {
			return unit.Dense(t.Context(), Sigma(1), &Options{Ranks: r})
		},
		"background": func(r *par.Ranks) (Operator64, error) {
			return unit.Background(t.Context(), Sigma(1), 0.5, 0.5, &Options{Ranks: r})
		},
		"poly": func(r *par.Ranks) (Operator64, error) {
			return unit.Poly(t.Context(), Sigma(5), 2, &Options{Ranks: r})
		},
	}
}

func TestSameBitsIn64ForAnyNumberOfRanks(t *testing.T) {
	t.Parallel()
	for name, build := range wideOperators(t) {
		t.Run(name, func(t *testing.T) {
			var want numbers
			for _, size := range []int{1, 2, 3, 5} {
				err := cluster.Local(size, func(ranks *par.Ranks) error {
					op, err := build(ranks)
					if err != nil {
						return err
					}
					got, err := runNumbers64(t.Context(), op)
					if err != nil {
						return err
					}
					if size == 1 {
						want = got
					}
					if !slices.Equal(got, want) {
						return fmt.Errorf("other numbers than one process")
					}
					return nil
				})
				if err != nil {
					t.Errorf("%d ranks: %v", size, err)
				}
			}
		})
	}
}

// runNumbers64 is runNumbers in float64. It begins with a step, which sums degrees where
// nobody has done so.
func runNumbers64(ctx context.Context, op Operator64) (all numbers, err error) {
	const k = 3
	n := op.N()
	x, next, rng := pointtest.Zeros64(n, k), pointtest.Zeros64(n, k), pointtest.Rand(3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	start := slices.Clone(x.Data)
	var st Stats
	if err := st.Gather64(x, nil); err != nil {
		return nil, err
	}
	for _, form := range []Form{Paper, Attract} {
		spoil(op, x.Data, k)
		if err := op.Step64(ctx, next, x, &Step{Form: form}, &st); err != nil {
			return nil, err
		}
		all.addStats(&st)
		x, next = next, x
	}
	if err := op.Complete64(ctx, x); err != nil {
		return nil, err
	}
	all.add(x.Data...)
	all.add(op.Degrees()...)
	if err := op.Apply64(ctx, next, blas64.General{Rows: n, Cols: k, Stride: k, Data: start}); err != nil {
		return nil, err
	}
	all.add(next.Data...)
	return all, op.Complete64(ctx, x)
}

// Degrees that no product has summed are summed by every rank on its own.
func TestDegreesOfRanks(t *testing.T) {
	t.Parallel()
	build := wideOperators(t)["dense"]
	alone, err := build(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Local(3, func(ranks *par.Ranks) error {
		op, err := build(ranks)
		if err == nil && !slices.Equal(op.Degrees(), alone.Degrees()) {
			err = errors.New("other degrees")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// A number that one rank alone looks at is refused by all, in the words of one process.
func TestRanksRefuseNonFinite(t *testing.T) {
	t.Parallel()
	for _, c := range rankCases() {
		if c.operator != "csr" && c.operator != "pairs" {
			continue // dense, poly and grid look at x before they begin
		}
		op, err := c.build(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := c.points.Rows
		x := pointtest.Zeros32(n, 2)
		x.Data[n+1] = float32(math.Inf(1))
		want := op.Apply(t.Context(), pointtest.Zeros32(n, 2), x)
		if !errors.Is(want, ErrNonFinite) {
			t.Fatal(want)
		}
		if err := cluster.Local(3, func(ranks *par.Ranks) error {
			op, err := c.build(t.Context(), ranks)
			if err != nil {
				return err
			}
			if got := op.Apply(t.Context(), pointtest.Zeros32(n, 2), x); fmt.Sprint(got) != want.Error() {
				return fmt.Errorf("%v, want %v", got, want)
			}
			// Nobody is left behind: the ranks go on together.
			return op.Complete(t.Context(), pointtest.Zeros32(n, 2))
		}); err != nil {
			t.Errorf("%s %s: %v", c.operator, c.name, err)
		}
	}
}

// A rank whose context ends takes the others along, wherever they wait for it.
func TestCancelledRank(t *testing.T) {
	t.Parallel()
	for _, c := range rankCases() {
		n := c.points.Rows
		if err := cluster.Local(3, func(ranks *par.Ranks) error {
			op, err := c.build(t.Context(), ranks)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if ranks.Rank() == 1 {
				cancel()
			}
			x, next := pointtest.RandomBlock(pointtest.Rand(1), n, 2), pointtest.Zeros32(n, 2)
			var st Stats
			if err := st.Gather(x, nil); err != nil {
				return err
			}
			for { // a rank may be served before it looks at its context
				if err := op.Step(ctx, next, x, new(Step), &st); err != nil {
					return err
				}
			}
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s %s: %v", c.operator, c.name, err)
		}
	}
}
