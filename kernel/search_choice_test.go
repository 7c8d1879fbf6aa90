package kernel

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// givenWeights returns, for each given row in turn, the weights of the given rows that are
// no equals of it, and the bound of what is left out.
func givenWeights(p *rows.Points, r *rows.Result) (weights []map[uint32]float32, tails []float64) {
	weights, tails = make([]map[uint32]float32, p.N), make([]float64, p.N)
	g := &graph.Graph{Result: *r}
	given := func(i int) (list []uint32) {
		if r.Group == nil {
			return []uint32{g.Given(i)}
		}
		return r.Order[r.Group[i]:r.Group[i+1]]
	}
	var buffer sparse.RowBuffer
	for i := range r.Weights.Rows() {
		ind, val := r.Weights.Row(i, &buffer)
		for _, row := range given(i) {
			weights[row], tails[row] = map[uint32]float32{}, r.Tails[i]
			for e, j := range ind {
				for _, column := range given(int(j)) {
					weights[row][column] = val[e]
				}
			}
		}
	}
	return weights, tails
}

// Cells and codes find the same pairs with the same weights, and bound what they leave
// out, wherever either may be chosen.
func TestEitherSearchFindsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p blas32.General
		n, d := rapid.IntRange(2, 300).Draw(t, "n"), rapid.IntRange(graph.CellDimensions+1, graph.ChoiceDimensions).Draw(t, "d")
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "hard") {
			p, _ = pointtest.Hard(rng, n, d)
		} else {
			p = pointtest.Draw(t, 300, []int{d})
		}
		pts := mustPoints(t, p)
		radius := pointtest.TypicalDistance(p, rng) * math.Exp2(rapid.Float64Range(-4, 0.5).Draw(t, "octaves"))
		b := Sigma(radius / rapid.Float64Range(0.5, 4).Draw(t, "sigmas"))
		o, err := (&Options{}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		byCells, err := cells.Search(t.Context(), graph.RequestOf(o, pts, b.own, radius))
		if err != nil {
			t.Fatal(err)
		}
		byCodes, err := codes.Search(t.Context(), graph.RequestOf(o, pts, b.own, radius))
		if err != nil {
			t.Fatal(err)
		}
		want, tails := givenWeights(pts, byCells)
		got, codeTails := givenWeights(pts, byCodes)
		for i := range pts.N {
			if len(got[i]) != len(want[i]) {
				t.Fatalf("row %d has %d neighbours by codes, %d by cells", i, len(got[i]), len(want[i]))
			}
			left := 0.0
			for j := range pts.N {
				d2 := pts.Dist2(i, j)
				w, near := want[i][uint32(j)]
				if again, found := got[i][uint32(j)]; found != near || again != w {
					t.Fatalf("pair %d, %d: weight %b by codes, %b by cells", i, j, again, w)
				}
				if near != (d2 > 0 && math.Sqrt(d2) <= radius) {
					t.Fatalf("pair %d, %d: found %v at %g, radius %g", i, j, near, math.Sqrt(d2), radius)
				}
				if d2 > 0 && !near {
					left += b.Weight(d2)
				}
			}
			if len(want[i]) == 0 {
				continue // its bound is infinite, whatever its tail
			}
			if limit := left * (1 - 1e-12); tails[i] < limit || codeTails[i] < limit {
				t.Fatalf("row %d leaves out %g, bounds %g by cells and %g by codes", i, left, tails[i], codeTails[i])
			}
		}
	})
}

// paddedWithZeros returns points with columns of zeros behind their own.
func paddedWithZeros(p blas32.General, more int) blas32.General {
	d := p.Cols + more
	return blas32.General{Rows: p.Rows, Cols: d, Stride: d, Data: pointtest.Fill(p.Rows*d, func(i int) float64 {
		if i%d >= p.Cols {
			return 0
		}
		return float64(p.Data[i/d*p.Cols+i%d])
	})}
}

// Points that fill many dimensions are searched by codes, others by cells; a column of
// zeros, the number of workers and the level do not change that.
func TestChoiceOfTheSearch(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	three := par.New(3)
	defer three.Close()
	const n = 6000
	for _, c := range []struct {
		name    string
		p       blas32.General
		byCodes bool
	}{
		{"uniform, 4 dimensions", pointtest.Make("uniform", n, 4, 1), false},
		{"uniform, 8 dimensions", pointtest.Make("uniform", n, 8, 1), true},
		{"uniform, 8 of 9 dimensions", paddedWithZeros(pointtest.Make("uniform", n, 8, 1), 1), true},
		{"uniform, 12 dimensions", pointtest.Make("uniform", n, 12, 1), true},
		{"uniform, 3 of 8 dimensions", paddedWithZeros(pointtest.Make("uniform", n, 3, 1), 5), false},
		{"uniform, 3 of 12 dimensions", paddedWithZeros(pointtest.Make("uniform", n, 3, 1), 9), false},
		{"uniform, 3 of 13 dimensions", paddedWithZeros(pointtest.Make("uniform", n, 3, 1), 10), true},
	} {
		b, radius, err := bandwidthForDegree(t.Context(), c.p, 20, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		var first *truncated.CSR
		for _, workers := range []*par.Workers{nil, three} {
			for _, level := range simd.Levels() {
				if workers != nil && level != simd.Best() {
					continue
				}
				op, err := as[*truncated.CSR](openCSR(t.Context(), c.p, b, &Options{CutoffRadius: radius, Workers: workers, Kernels: simd.At(level)}))
				if err != nil {
					t.Fatal(err)
				}
				if byCodes := op.Search().Depth > 0; byCodes != c.byCodes {
					t.Errorf("%s, level %v: searched by codes: %v", c.name, level, byCodes)
				}
				if first == nil {
					first = op
				} else if !slices.Equal(op.Order(), first.Order()) || !slices.Equal(op.Degrees(), first.Degrees()) || !slices.Equal(op.Certificate().Row, first.Certificate().Row) {
					t.Errorf("%s: order, degrees or bounds depend on the workers or on level %v", c.name, level)
				}
			}
		}
	}
}

// Whatever the memory and the number of workers, the graph is the same or refused, and no
// limit is exceeded.
func TestChoiceWithinLimit(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	three := par.New(3)
	defer three.Close()
	for _, c := range []struct {
		p          blas32.General
		neighbours float64
		byCodes    bool
	}{
		{pointtest.Make("uniform", 6000, 8, 1), 20, true},
		{pointtest.Make("uniform", 6000, 10, 1), 20, true},
		{paddedWithZeros(pointtest.Make("uniform", 6000, 3, 1), 5), 20, false},
		{pointtest.Make("uniform", 2000, 10, 1), 400, false}, // codes are prepared in vain
	} {
		d := c.p.Cols
		b, radius, err := bandwidthForDegree(t.Context(), c.p, c.neighbours, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		full, err := as[*truncated.CSR](openCSR(t.Context(), c.p, b, &Options{CutoffRadius: radius}))
		if err != nil || full.Search().Depth > 0 != c.byCodes {
			t.Fatalf("d = %d: searched by codes: %v, %v", d, full.Search().Depth > 0, err)
		}
		for _, workers := range []*par.Workers{nil, three} {
			cost := truncated.CSRCost(c.p.Rows, d, float64(full.Cost().NNZ), &base.Options{Workers: workers}).PeakBytes
			refused := 0
			for limit := cost / 4; limit < 2*cost; limit += cost / 16 {
				op, err := as[*truncated.CSR](openCSR(t.Context(), c.p, b, &Options{CutoffRadius: radius, MaxMemory: limit, Workers: workers}))
				if errors.Is(err, ErrMemory) && limit < cost*5/4 {
					refused++
					continue
				}
				if err != nil {
					t.Errorf("d = %d, %d of %d bytes: %v", d, limit, cost, err)
					continue
				}
				if op.Cost().PeakBytes > limit {
					t.Errorf("d = %d, limit %d: %d bytes held", d, limit, op.Cost().PeakBytes)
				}
				if !slices.Equal(op.Order(), full.Order()) || !slices.Equal(op.Degrees(), full.Degrees()) || !slices.Equal(op.Certificate().Row, full.Certificate().Row) {
					t.Errorf("d = %d, limit %d, %d workers: order, degrees or bounds differ", d, limit, workers.Count())
				}
			}
			if refused == 0 {
				t.Errorf("d = %d: nothing was refused", d)
			}
		}
	}
}

// A search that is cancelled while it chooses returns nothing.
func TestChoiceIsCancelled(t *testing.T) {
	pts, b := mustPoints(t, pointtest.Make("uniform", 3000, 8, 1)), Sigma(0.1)
	o, err := (&Options{}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	const enough = 1 << 30
	whole := &pointtest.Patience{Context: t.Context(), Left: enough}
	if _, err := graph.SearchPairs(whole, graph.RequestOf(o, pts, b.own, 0.35)); err != nil {
		t.Fatal(err)
	}
	looks := enough - whole.Left
	for part := range 8 {
		ctx := &pointtest.Patience{Context: t.Context(), Left: looks * part / 8}
		if found, err := graph.SearchPairs(ctx, graph.RequestOf(o, pts, b.own, 0.35)); found != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d of 8 parts: %v", part, err)
		}
	}
}
