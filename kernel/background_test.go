package kernel

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pairwise"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// plainBackground is the definition: the weights beyond the radius replaced.
func plainBackground(r *UnitRows, b Bandwidth, radius, weight float64) (w [][]float64, near [][]bool) {
	w = plainUnit(r, b)
	near = make([][]bool, len(w))
	for i := range w {
		near[i] = make([]bool, len(w))
		for j := range w[i] {
			switch {
			case i == j:
				continue
			case r.Null(i) || r.Null(j):
				near[i][j] = radius >= 1
			default:
				near[i][j] = math.Sqrt(min(rows.Dist2(r.own.Rows.Row(i), r.own.Rows.Row(j)), 4)) <= radius
			}
			if !near[i][j] {
				w[i][j] = weight
			}
			if !r.Null(i) && !r.Null(j) {
				w[i][j] = max(w[i][j], weight)
			}
		}
	}
	return w, near
}

// drawRadius draws a radius: any, tiny, 2, or one that is the distance of two
// rows or next to it.
func drawRadius(t *rapid.T, r *UnitRows) float64 {
	switch rapid.SampledFrom([]string{"any", "tiny", "all", "distance", "distance", "one"}).Draw(t, "radius of") {
	case "tiny":
		return math.Pow(10, rapid.Float64Range(-300, -1).Draw(t, "log radius"))
	case "all":
		return 2
	case "one":
		return 1
	case "distance":
		i, j := rapid.IntRange(0, r.N()-1).Draw(t, "i"), rapid.IntRange(0, r.N()-1).Draw(t, "j")
		radius := math.Sqrt(rows.Dist2(r.own.Rows.Row(i), r.own.Rows.Row(j)))
		radius = rapid.SampledFrom([]float64{radius, math.Nextafter(radius, 0), math.Nextafter(radius, 3)}).Draw(t, "next to")
		if radius > 0 && radius <= 2 {
			return radius
		}
	}
	return rapid.Float64Range(.01, 2).Draw(t, "radius")
}

func drawBackground(t *rapid.T, r *UnitRows) (b Bandwidth, radius, weight float64) {
	b = Sigma(math.Exp(rapid.Float64Range(math.Log(.06), math.Log(50)).Draw(t, "log sigma")))
	radius = drawRadius(t, r)
	low, high := b.Weight(4), b.Weight(radius*radius)
	part := rapid.OneOf(rapid.SampledFrom([]float64{0, .5, 1}), rapid.Float64Range(0, 1)).Draw(t, "part")
	return b, radius, min(max(low+part*(high-low), low), high)
}

func TestBackgroundEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUnit(t, 60, unitDims)
		b, radius, weight := drawBackground(t, r)
		op, err := as[*pairwise.Background](r.Background(t.Context(), b, radius, weight, nil))
		if err != nil {
			t.Fatalf("%v", err)
		}
		n, k := r.N(), 3
		w, near := plainBackground(r, b, radius, weight)
		for i := range n {
			ind, val := op.Row(i)
			stored := make(map[int]float64)
			for e, j := range ind {
				stored[int(j)] = val[e]
			}
			want := make(map[int]float64)
			for j := range n {
				if near[i][j] {
					want[j] = w[i][j] - weight
				}
			}
			if len(ind) != len(stored) || !maps.Equal(stored, want) {
				t.Fatalf("row %d stores %v, want %v", i, stored, want)
			}
			for _, v := range val {
				if v < 0 || v > 1-weight {
					t.Fatalf("row %d: weight %v above the background %v", i, v, weight)
				}
			}
		}
		x := randomBlock64(pointtest.Rand(uint64(n)), n, k)
		got, want := pointtest.Zeros64(n, k), pointtest.PlainMul(w, x)
		if err := op.Apply64(t.Context(), got, x); err != nil {
			t.Fatalf("%v", err)
		}
		for i := range n {
			size := 0.0
			for j, v := range w[i] {
				size += v
				for c := range k {
					size += (v + weight) * math.Abs(x.Data[j*k+c])
				}
			}
			for c := range k {
				if e := math.Abs(got.Data[i*k+c] - want.Data[i*k+c]); e > 2*op.Certificate().Rounding*size {
					t.Fatalf("row %d: %v, want %v", i, got.Data[i*k+c], want.Data[i*k+c])
				}
			}
		}
		// L 1 = 0 bit for bit.
		ones := pointtest.Zeros64(n, k)
		for i := range ones.Data {
			ones.Data[i] = 1
		}
		if err := op.Apply64(t.Context(), got, ones); err != nil {
			t.Fatalf("%v", err)
		}
		for i, v := range got.Data {
			if v != op.Degrees()[i/k] {
				t.Fatalf("(W 1)[%d] = %v, degree %v", i/k, v, op.Degrees()[i/k])
			}
		}
		// The certificate is about the full kernel.
		for i, full := range plainUnit(r, b) {
			off := 0.0
			for j := range full {
				off += math.Abs(full[j] - w[i][j])
			}
			if eta := op.Certificate().Eta(i); off > eta*op.Degrees()[i]*(1+1e-9) {
				t.Fatalf("row %d: weights off by %g, eta %g of degree %g", i, off, eta, op.Degrees()[i])
			}
		}
	})
}

// Several blocks and chunks, in both forms of the distance, float32 iterates.
func TestBackgroundOfManyRows(t *testing.T) {
	for _, d := range []int{3, 12} {
		const n = 1100
		r := unitRows(t, makeUnit("clustered", n, d, 600, 8))
		b, radius, weight := Sigma(.4), 1.05, .001
		op, err := as[*pairwise.Background](r.Background(t.Context(), b, radius, weight, nil))
		if err != nil {
			t.Fatal(err)
		}
		w, near := plainBackground(r, b, radius, weight)
		for i := range n {
			ind, val := op.Row(i)
			for e, j := range ind {
				if !near[i][j] || val[e] != w[i][j]-weight {
					t.Fatalf("d=%d: entry (%d, %d) is wrong", d, i, j)
				}
				near[i][j] = false
			}
			if slices.Contains(near[i], true) {
				t.Fatalf("d=%d: row %d lacks a neighbour", d, i)
			}
		}
		x := pointtest.RandomBlock(pointtest.Rand(1), n, 2)
		got, want := apply(t, public(op), x), pointtest.PlainMul(w, pointtest.Widen(x))
		for i, v := range got.Data {
			if math.Abs(float64(v)-want.Data[i]) > 1e-7*(math.Abs(want.Data[i])+1) {
				t.Fatalf("d=%d: product %d is %v, want %v", d, i, v, want.Data[i])
			}
		}
	}
}

// Permuted rows have the same neighbours and the same bits of their weights.
func TestBackgroundIsAFunctionOfPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUnit(t, 300, []int{2, 9, 30})
		b, radius, weight := drawBackground(t, r)
		n, d := r.N(), r.own.Dim()
		order := pointtest.Rand(rapid.Uint64().Draw(t, "order")).Perm(n)
		moved := &UnitRows{distance.UnitRows{NullRow: -1, Rows: rows.NewView(n, d, d, make([]float64, n*d))}}
		for i, from := range order {
			copy(moved.own.Rows.Row(i), r.own.Rows.Row(from))
			if r.Null(from) {
				moved.own.NullRow = i
			}
		}
		given, err := as[*pairwise.Background](r.Background(t.Context(), b, radius, weight, nil))
		if err != nil {
			t.Fatalf("%v", err)
		}
		permuted, err := as[*pairwise.Background](moved.Background(t.Context(), b, radius, weight, nil))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for i, from := range order {
			want, got := make(map[int]float64), make(map[int]float64)
			ind, val := given.Row(from)
			for e, j := range ind {
				want[int(j)] = val[e]
			}
			ind, val = permuted.Row(i)
			for e, j := range ind {
				got[order[j]] = val[e]
			}
			if !maps.Equal(got, want) {
				t.Fatalf("row %d changed its neighbours when it moved", from)
			}
		}
	})
}

func TestBackgroundRefused(t *testing.T) {
	r := unitRows(t, makeUnit("random", 400, 3, -1, 1))
	b := Sigma(1)
	for _, c := range []struct {
		name           string
		radius, weight float64
		want           error
	}{
		{"lower end", 1, b.Weight(4), nil},
		{"upper end", 1, b.Weight(1), nil},
		{"an end computed otherwise", 1, b.Weight(1) * (1 + 5e-13), nil},
		{"all pairs", 2, b.Weight(4), nil},
		{"weight too low", 1, b.Weight(4) * (1 - 1e-11), base.ErrBackground},
		{"weight too high", 1, b.Weight(1) * (1 + 1e-11), base.ErrBackground},
		{"weight NaN", 1, math.NaN(), base.ErrBackground},
		{"weight 0", 1, 0, base.ErrBackground},
		{"radius 0", 0, .5, base.ErrBackground},
		{"radius negative", -1, .5, base.ErrBackground},
		{"radius above 2", math.Nextafter(2, 3), b.Weight(4), base.ErrBackground},
		{"radius NaN", math.NaN(), .5, base.ErrBackground},
	} {
		t.Run(c.name, func(t *testing.T) {
			op, err := as[*pairwise.Background](r.Background(t.Context(), b, c.radius, c.weight, nil))
			if !errors.Is(err, c.want) || (op == nil) != (c.want != nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if op == nil {
				return
			}
			for _, v := range op.Val {
				if v < 0 {
					t.Fatalf("a weight below the background")
				}
			}
		})
	}
}

func TestBackgroundLimit(t *testing.T) {
	r := unitRows(t, makeUnit("random", 400, 12, -1, 1))
	b := Sigma(1)
	op, err := as[*pairwise.Background](r.Background(t.Context(), b, 1.5, b.Weight(4), nil))
	if err != nil {
		t.Fatal(err)
	}
	peak := op.Cost().PeakBytes
	if least := int64(12 * len(op.Val)); peak < least || op.Cost().NNZ != int64(len(op.Val)) {
		t.Errorf("cost %+v, stored entries alone take %d", op.Cost(), least)
	}
	if _, err := r.Background(t.Context(), b, 1.5, b.Weight(4), &Options{MaxMemory: peak}); err != nil {
		t.Errorf("with just enough: %v", err)
	}
	var memory *MemoryError
	if _, err := r.Background(t.Context(), b, 1.5, b.Weight(4), &Options{MaxMemory: peak - 1}); !errors.As(err, &memory) || memory.Need != peak {
		t.Errorf("with a byte less: %v", err)
	}
}

func TestBackgroundCancelled(t *testing.T) {
	r := unitRows(t, makeUnit("random", 600, 3, -1, 1))
	b := Sigma(1)
	ops := unitOperators(t, r, b, 1, nil)
	ctx, cancel := context.WithCancel(t.Context())
	// In the second of the two passes over the pairs.
	opt := &Options{Progress: func(stage string, _, _ int) {
		if stage == "fill weights" {
			cancel()
		}
	}}
	if _, err := r.Background(ctx, b, 1, b.Weight(2), opt); !errors.Is(err, context.Canceled) {
		t.Errorf("build: %v", err)
	}
	if _, err := r.Dense(ctx, b, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("dense build: %v", err)
	}
	for _, op := range ops {
		if err := op.Apply64(ctx, pointtest.Zeros64(600, 1), pointtest.Zeros64(600, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", op.Name(), err)
		}
		var st Stats
		if err := st.Gather64(pointtest.Zeros64(600, 1), nil); err != nil {
			t.Fatal(err)
		}
		if err := op.Step64(ctx, pointtest.Zeros64(600, 1), pointtest.Zeros64(600, 1), &Step{}, &st); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", op.Name(), err)
		}
	}
}

func TestBackgroundBadIterates(t *testing.T) {
	op := unitOperators(t, unitRows(t, makeUnit("random", 5, 3, -1, 1)), Sigma(1), 1, nil)[1]
	ctx, x := t.Context(), pointtest.Zeros64(5, 2)
	if err := op.Apply64(ctx, x, x); !errors.Is(err, sparse.ErrAlias) {
		t.Errorf("aliased: %v", err)
	}
	if err := op.Apply64(ctx, pointtest.Zeros64(5, 1), x); !errors.Is(err, ErrShape) {
		t.Errorf("shape: %v", err)
	}
	if err := op.Apply64(ctx, pointtest.Zeros64(5, 2), blas64.General{Rows: 5, Cols: 2, Stride: 2, Data: slices.Repeat([]float64{math.NaN()}, 10)}); !errors.Is(err, ErrNonFinite) {
		t.Errorf("NaN: %v", err)
	}
	if err := op.Step64(ctx, pointtest.Zeros64(5, 2), x, &Step{}, &Stats{}); !errors.Is(err, ErrShape) {
		t.Errorf("without sums: %v", err)
	}
	if err := op.Step64(ctx, pointtest.Zeros64(5, 2), pointtest.Zeros64(4, 2), &Step{}, &Stats{}); !errors.Is(err, ErrShape) {
		t.Errorf("rows: %v", err)
	}
	if op.Name() != "background" || op.Order() != nil || op.Close() != nil {
		t.Errorf("name %q", op.Name())
	}
}

// A single row has nobody: it stays where it is.
func TestUnitOperatorsOfOneRow(t *testing.T) {
	for _, op := range unitOperators(t, unitRows(t, makeUnit("random", 1, 3, -1, 1)), Sigma(1), 1, nil) {
		f := firstStep64(t, op, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{7}}, []int32{0}, EqualTable(), 1)
		if f.Data[0] != 7 || op.Certificate().Isolated != 1 {
			t.Errorf("%s: %v, %v", op.Name(), f.Data, op.Certificate())
		}
	}
}
