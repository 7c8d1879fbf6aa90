package kernel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// sharedCase is a search that ranks share.
type sharedCase struct {
	name    string
	p       blas32.General
	b       Bandwidth
	options Options
	large   bool // several ranks have rows
}

// nearRadius is a radius within which a point has about k others.
func nearRadius(p blas32.General, k int) float64 {
	rng := pointtest.Rand(9)
	var radii []float64
	for range 15 {
		i := rng.IntN(p.Rows)
		var d2 []float64
		for j := range p.Rows {
			if v := rows.Dist2(rows.View32(p).Row(i), rows.View32(p).Row(j)); v > 0 {
				d2 = append(d2, v)
			}
		}
		if slices.Sort(d2); len(d2) > 0 {
			radii = append(radii, math.Sqrt(d2[min(k, len(d2)-1)]))
		}
	}
	if slices.Sort(radii); len(radii) == 0 {
		return 1 // all points are equal
	}
	return radii[len(radii)/8] // elsewhere they may have many more
}

// strewnEqual has points that are equal to others anywhere, a crowd of equal points, and some
// points that have no neighbours.
func strewnEqual(n, d int) blas32.General {
	p, rng := pointtest.Make("uniform", n, d, 7), pointtest.Rand(8)
	for range n / 8 {
		copy(p.Data[d*rng.IntN(n):][:d], p.Data[d*rng.IntN(n):][:d])
	}
	for i := range 300 {
		copy(p.Data[d*(7*i):][:d], p.Data[:d])
	}
	for i := range 40 {
		p.Data[d*(n/40*i+1)] = 2 + float32(i)/8
	}
	return p
}

// sharedCases are searches of every kind, among points that are hard for them.
func sharedCases(t *testing.T) (cases []sharedCase) {
	add := func(name string, p blas32.General, radius float64, o Options) {
		b := Sigma(radius / 4)
		if o.Neighbours == 0 {
			o.CutoffRadius = radius
		}
		cases = append(cases, sharedCase{name: name, p: p, b: b, options: o})
	}
	for _, kind := range pointtest.Kinds() {
		for _, d := range []int{1, 2, 3, 5} {
			p := pointtest.Make(kind, 2000, d, 7)
			radius := nearRadius(p, 8)
			layout := []sparse.Layout{sparse.Plain, sparse.Compact, sparse.Compact16}[d%3]
			add(fmt.Sprint(kind, " ", d), p, radius, Options{Layout: layout})
		}
		for _, n := range []int{1, 2, 5} {
			p := pointtest.Make(kind, n, 2, 7)
			add(fmt.Sprint(kind, " few ", n), p, 0.5*pointtest.TypicalDistance(p, pointtest.Rand(2)), Options{})
		}
		p := pointtest.Make(kind, 500, 20, 3)
		add(kind+" 20", p, nearRadius(p, 12), Options{})
		add(kind+" nearest 2", pointtest.Make(kind, 600, 2, 3), 1, Options{Neighbours: 5})
		add(kind+" nearest 20", pointtest.Make(kind, 400, 20, 3), 1, Options{Neighbours: 5})
	}
	for seed := range uint64(16) {
		p, what := pointtest.Hard(pointtest.Rand(seed), 500, 24)
		layout := []sparse.Layout{sparse.Plain, sparse.Compact, sparse.Compact16}[seed%3]
		add(fmt.Sprint("hard ", what, " ", seed), p, nearRadius(p, 20), Options{Layout: layout})
	}
	for _, kind := range []string{"uniform", "clustered"} { // a chunk of weights has 65536
		p := pointtest.Make(kind, 700, 20, 3)
		copy(p.Data[20*600:], p.Data[:20*50]) // equal points, too
		add(kind+" 20 of many chunks", p, nearRadius(p, 400), Options{Layout: sparse.Compact})
	}
	for d, layout := range map[int]sparse.Layout{1: sparse.Plain, 2: sparse.Compact, 3: sparse.Compact16, 5: sparse.Compact} {
		p := strewnEqual(18_000+4000*d, d)
		add(fmt.Sprint("large ", d), p, nearRadius(p, 8), Options{Layout: layout})
		cases[len(cases)-1].large = true
	}
	add("large nearest", strewnEqual(12_000, 2), 0.1, Options{Neighbours: 6})
	outliers, radius := pointtest.Outliers(3)
	add("outliers", outliers, radius, Options{})
	add("repaired", outliers, radius, Options{Isolated: Repair})
	add("blobs", pointtest.Blobs(3), pointtest.BlobRadius, Options{})
	return cases
}

// graphOf is what the tests compare of a graph: every row of weights, and what is known of it.
type graphOf struct {
	ind            [][]uint32
	val            [][]float32
	order, group   []uint32
	degrees        []float64
	bounds         []int
	cert           base.Certificate
	cost           base.Cost
	stats          rows.Stats
	mean           float64
	components     []int
	radius         float64
	matrix         uint64   // hash of its arrays
	faint          []uint32 // of all ranks
	weightsEntries int
	steps          numbers
}

// describe describes an operator. Rows of weights are those that are here.
func describe(ctx context.Context, op *truncated.CSR) (*graphOf, error) {
	g := &graphOf{
		ind: make([][]uint32, op.Weights.Rows()), val: make([][]float32, op.Weights.Rows()),
		order: op.GivenRows, group: op.Group, degrees: op.RowSums, bounds: op.Bounds, cert: op.Certificate(), cost: op.Costs,
		stats: op.Search(), mean: op.MeanNeighbours(), radius: op.Cutoff, weightsEntries: op.Weights.NNZ(),
	}
	g.cost.PeakBytes, g.cost.ResidentBytes = 0, 0 // of one rank
	lo, hi := op.Weights.OwnRows()
	for i := lo; i < hi; i++ {
		ind, val := op.Weights.Row(i, nil)
		g.ind[i], g.val[i] = slices.Clone(ind), slices.Clone(val)
	}
	faint, _, err := exchange.GatherAll(ctx, op.Ranks, op.Faint)
	if err != nil {
		return nil, err
	}
	g.faint = append(g.faint, faint...)
	if g.components, err = op.Components(ctx); err != nil {
		return nil, err
	}
	if g.steps, err = runNumbers(ctx, public(op), []int{2}); err != nil {
		return nil, err
	}
	if g.mean > 100 { // many equal points: a matrix that takes long to compare
		return g, nil
	}
	m, err := op.Matrix(ctx)
	if err != nil {
		return nil, err
	}
	ptr, ind, val := m.Arrays()
	hash := fnv.New64a()
	for _, array := range []any{ptr, ind, val} {
		if err := binary.Write(hash, binary.LittleEndian, array); err != nil {
			return nil, err
		}
	}
	g.matrix = hash.Sum64()
	return g, nil
}

// Ranks that share a search have, together, the graph of one process, bit by bit, and each
// knows the same of it.
func TestSharedSearchIsThatOfOneProcess(t *testing.T) {
	longtest.Only(t)
	for _, c := range sharedCases(t) {
		t.Run(c.name, func(t *testing.T) {
			build := func(ranks *par.Ranks) (*graphOf, []int, error) {
				o := c.options
				o.Ranks = ranks
				op, err := openCSR(t.Context(), c.p, c.b, &o)
				if err != nil {
					return nil, nil, err
				}
				var bounds []int
				if roomOf(op).(*truncated.CSR).Weights.Shared() {
					bounds = roomOf(op).(*truncated.CSR).PointBounds()
				}
				g, err := describe(t.Context(), roomOf(op).(*truncated.CSR))
				return g, bounds, err
			}
			want, _, wantErr := build(nil)
			sizes := longtest.Pick([]int{3}, []int{2, 3, 7}, []int{2, 3, 7})
			if c.large {
				longtest.Only(t)
				sizes = []int{2, 4}
			}
			for _, size := range sizes {
				got, bounds := make([]*graphOf, size), []int(nil)
				err := cluster.Local(size, func(ranks *par.Ranks) error {
					g, b, err := build(ranks)
					if got[ranks.Rank()] = g; ranks.Rank() == 0 {
						bounds = b
					}
					return err
				})
				if wantErr != nil {
					if !errors.Is(err, sparse.ErrRange) || !errors.Is(wantErr, sparse.ErrRange) {
						t.Fatalf("%d ranks: %v, one process: %v", size, err, wantErr)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%d ranks: %v", size, err)
				}
				for rank, g := range got {
					if c.large && bounds[rank+1]-bounds[rank] == bounds[size] {
						t.Errorf("rank %d of %d has all rows", rank, size)
					}
					compareShare(t, fmt.Sprintf("rank %d of %d", rank, size), g, want, rank, bounds)
				}
			}
		})
	}
}

// compareShare compares what a rank has with the graph of one process. Its rows of weights are
// those that bounds give it; without bounds it has all.
func compareShare(t *testing.T, who string, got, want *graphOf, rank int, bounds []int) {
	t.Helper()
	lo, hi := 0, len(want.ind)
	if bounds != nil {
		lo, hi = bounds[rank], bounds[rank+1]
	}
	for i := range want.ind {
		if i < lo || i >= hi {
			if got.ind[i] != nil {
				t.Fatalf("%s has row %d of another rank", who, i)
			}
			continue
		}
		if !slices.Equal(got.ind[i], want.ind[i]) || !slices.Equal(got.val[i], want.val[i]) {
			t.Fatalf("%s: row %d is not that of one process", who, i)
		}
	}
	all := *got
	all.ind, all.val = want.ind, want.val
	if reflect.DeepEqual(&all, want) {
		return
	}
	g, w := reflect.ValueOf(all), reflect.ValueOf(*want)
	for f := range g.NumField() {
		if name := g.Type().Field(f).Name; name != "ind" && name != "val" && fmt.Sprint(g.Field(f)) != fmt.Sprint(w.Field(f)) {
			t.Errorf("%s: %s is not that of one process", who, name)
		}
	}
	t.Errorf("%s knows other things than one process", who)
}

// Where one rank alone is refused memory, all get the same error, and none waits for another.
func TestSharedSearchRefusedOnOneRank(t *testing.T) {
	low, high := pointtest.Make("uniform", 20_000, 2, 1), pointtest.Make("uniform", 2000, 20, 1)
	for _, c := range []struct {
		name       string
		p          blas32.General
		radius     float64
		neighbours int
	}{{"cells", low, 0.05, 0}, {"codes", high, 1.4, 0}, {"nearest", low, 1, 8}} {
		b := Sigma(c.radius / 4)
		// search lets three ranks search; rank 1 is refused what reaches most bytes. It returns
		// the most that rank 1 has asked for, too.
		search := func(most int64) (errs [3]error, asked int64) {
			if err := cluster.Local(3, func(ranks *par.Ranks) error {
				o := &Options{Neighbours: c.neighbours, Ranks: ranks, Reserve: func(bytes int64) bool {
					if ranks.Rank() != 1 {
						return true
					}
					asked = max(asked, bytes)
					return bytes < most
				}}
				if c.neighbours == 0 {
					o.CutoffRadius = c.radius
				}
				_, errs[ranks.Rank()] = openCSR(t.Context(), c.p, b, o)
				return nil
			}); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return errs, asked
		}
		errs, asked := search(math.MaxInt64)
		if errs != [3]error{} {
			t.Fatalf("%s: %v", c.name, errs)
		}
		for _, most := range []int64{asked / 100, asked / 2, asked} { // from the first request to the last
			errs, _ := search(most)
			for rank, err := range errs {
				if !errors.Is(err, ErrMemory) || err.Error() != errs[0].Error() {
					t.Errorf("%s, %d of %d bytes: rank %d: %v, rank 0: %v", c.name, most, asked, rank, err, errs[0])
				}
			}
		}
	}
}

// A context that ends while ranks search ends all of them.
func TestSharedSearchIsCancelled(t *testing.T) {
	for _, p := range []blas32.General{pointtest.Make("uniform", 20_000, 2, 1), pointtest.Make("uniform", 1000, 20, 1)} {
		for _, left := range []int{0, 3, 10, 40, 200} {
			err := cluster.Local(3, func(ranks *par.Ranks) error {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if ranks.Rank() == 1 {
					ctx = &pointtest.Patience{Context: ctx, Left: left}
				}
				b := Sigma(0.1)
				_, err := openCSR(ctx, p, b, &Options{CutoffRadius: 0.3, Ranks: ranks})
				return err
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("%d questions: %v", left, err)
			}
			if err == nil && left == 0 {
				t.Fatal("not cancelled")
			}
		}
	}
}

// Shares of very different densities are about equal work.
func TestSharedSearchIsBalanced(t *testing.T) {
	const n = 60_000
	rng := pointtest.Rand(5)
	p := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: pointtest.Fill(2*n, func(int) float64 { return math.Pow(rng.Float64(), 2) })}
	b := Sigma(0.002)
	entries := make([]int, 2)
	if err := cluster.Local(2, func(ranks *par.Ranks) error {
		op, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: 0.01, Ranks: ranks})
		if err != nil {
			return err
		}
		lo, hi := roomOf(op).(*truncated.CSR).Weights.OwnRows()
		for i := lo; i < hi; i++ {
			entries[ranks.Rank()] += roomOf(op).(*truncated.CSR).Weights.RowLen(i)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if most := max(entries[0], entries[1]); float64(most) > 0.65*float64(entries[0]+entries[1]) {
		t.Errorf("ranks found %v weights", entries)
	}
}

// Ranks hold a graph together that is too large for one of them.
func TestSharedGraphBeyondTheLimitOfOne(t *testing.T) {
	low, high := pointtest.Make("uniform", 20_000, 2, 1), pointtest.Make("uniform", 1500, 20, 1)
	for _, c := range []struct {
		name   string
		p      blas32.General
		radius float64
		ranks  int
	}{{"cells", low, 0.06, 4}, {"codes", high, 1.9, 6}} {
		for _, sampled := range []bool{false, true} {
			build := func(limit int64, ranks *par.Ranks) (Operator, error) {
				o := &Options{Operator: "csr", CutoffRadius: c.radius, MaxMemory: limit, Ranks: ranks}
				points, err := Open(c.p, o)
				if err != nil {
					return nil, err
				}
				if sampled { // it tells a search beforehand that it has no hope
					if _, err := points.Plan(t.Context(), Sigma(c.radius/4), &Options{Ranks: ranks}); err != nil {
						return nil, err
					}
				}
				return points.Build(t.Context(), Sigma(c.radius/4), o)
			}
			whole, err := build(1<<34, nil)
			if err != nil {
				t.Fatal(err)
			}
			weights := 8 * whole.Cost().NNZ
			limit := whole.Cost().PeakBytes * 7 / 10
			if _, err := build(limit, nil); !errors.Is(err, ErrMemory) {
				t.Fatalf("%s: one process: %v", c.name, err)
			}
			if err := cluster.Local(c.ranks, func(ranks *par.Ranks) error {
				op, err := build(limit, ranks)
				if err != nil {
					return err
				}
				if got := op.Cost().ResidentBytes; got > whole.Cost().ResidentBytes-weights/2 {
					return fmt.Errorf("%d bytes of a rank, %d of one process", got, whole.Cost().ResidentBytes)
				}
				if !slices.Equal(op.Degrees(), whole.Degrees()) {
					return errors.New("other degrees than one process")
				}
				return nil
			}); err != nil {
				t.Errorf("%s, sampled: %v: %v", c.name, sampled, err)
			}
		}
	}
}
