package codes

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// wideSets are points of many columns of which codes leave most pairs, and hard cases of them.
func wideSets() map[string]blas32.General {
	const n, d = 200, 530
	rng := rand.New(rand.NewPCG(5, 6))
	of := func(value func(i, c int) float64) blas32.General {
		return blas32.General{Rows: n, Cols: d, Stride: d, Data: pointtest.Fill(n*d, func(e int) float64 { return value(e/d, e%d) })}
	}
	own := rand.New(rand.NewPCG(7, 8))
	const wider = 2000 // columns, of which a block of products has fewer rows than a tile
	return map[string]blas32.General{
		"wider": {Rows: n, Cols: wider, Stride: wider, Data: pointtest.Fill(n*wider, func(int) float64 { return own.NormFloat64() })},
		"noise": of(func(_, _ int) float64 { return rng.NormFloat64() }),
		"sparse": of(func(i, c int) float64 {
			if rng.IntN(25) == 0 {
				return math.Pow(rng.ExpFloat64(), 3)
			}
			return 0
		}),
		"permuted": of(func(i, c int) float64 { // all at one distance of the first but for rounding
			if i == 0 {
				return 0
			}
			return 1 / float64(1+(c*(1+2*(i%9))+i)%53)
		}),
		"far off":  of(func(_, _ int) float64 { return 5000 + rng.NormFloat64() }),
		"tiny":     of(func(_, _ int) float64 { return 1e-30 * rng.NormFloat64() }),
		"below":    of(func(_, _ int) float64 { return 1e-40 * rng.NormFloat64() }),
		"huge":     of(func(_, _ int) float64 { return 1e30 * rng.NormFloat64() }),
		"equal":    of(func(_, _ int) float64 { return 3 }),
		"one hot":  of(func(i, c int) float64 { return map[bool]float64{true: 1}[i%d == c] }),
		"integers": of(func(_, _ int) float64 { return float64(rng.IntN(2)) }),
		"outlier":  of(func(i, _ int) float64 { return rng.NormFloat64() * map[bool]float64{true: 1e6, false: 1}[i == 7] }),
	}
}

// Products and deferred sums of squares change no neighbour: rows.Dist2 of every pair says which
// are the nearest, and lower rows come first among equals.
func TestNearestOfWideRows(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for name, x := range wideSets() {
		p := pointtest.Open(x)
		want := make([][]neighbour, x.Rows)
		for i := range want {
			for j := range x.Rows {
				if j != i {
					want[i] = append(want[i], neighbour{d2: p.Dist2(i, j), given: uint32(j)})
				}
			}
			slices.SortFunc(want[i], neighbour.compare)
		}
		all, levels := []int{1, 7, x.Rows - 1}, []simd.Level{simd.Generic, simd.Best()}
		for _, k := range longtest.Pick(all[1:2], all, all) {
			for _, level := range longtest.Pick(levels[1:], levels, levels) {
				req := &rows.Request{Points: p, Memory: 1 << 30, Workers: workers, Kernels: simd.At(level)}
				given := make([]bool, x.Rows)
				if err := NearestByRow(t.Context(), k, req, func(row int, near []uint32, d2 []float64) {
					given[row] = true
					for e, w := range want[row][:k] {
						if near[e] != w.given || d2[e] != w.d2 {
							t.Errorf("%s, k %d, level %v: neighbour %d of row %d is %d at %v, want %d at %v", name, k, level, e, row, near[e], d2[e], w.given, w.d2)
							return
						}
					}
				}); err != nil {
					t.Fatal(err)
				}
				if slices.Contains(given, false) {
					t.Errorf("%s, k %d, level %v: a row has no neighbours", name, k, level)
				}
			}
		}
	}
}

// The rows of a tile come in several blocks where they are long.
func TestProductBlocks(t *testing.T) {
	if rows := productRows(wideSets()["wider"].Cols); rows >= panelColumns || rows < 2 {
		t.Errorf("%d rows of the widest set are a block, want fewer than the %d of a tile", rows, panelColumns)
	}
}

// The bounds hold, and are close enough to say something where rows are not short or far apart.
func TestProductBounds(t *testing.T) {
	workers := par.New(1)
	defer workers.Close()
	for name, x := range wideSets() {
		for _, level := range []simd.Level{simd.Generic, simd.Best()} {
			p := pointtest.Open(x)
			req := &rows.Request{Points: p, Workers: workers, Kernels: simd.At(level)}
			row := p.Single.Row
			centre, err := mean(t.Context(), row, rows.Spread(64, x.Rows), x.Cols, workers)
			if err != nil {
				t.Fatal(err)
			}
			pr, err := newProducts(t.Context(), row, x.Rows, centre, req)
			if err != nil {
				t.Fatal(err)
			}
			if (pr == nil) != (name == "huge") {
				t.Fatalf("%s: products %v", name, pr != nil)
			}
			if pr == nil {
				continue
			}
			scratch := pr.scratch()
			for i := range panelColumns {
				pr.load(scratch.left, i, i)
			}
			pr.multiply(scratch, panelColumns, 0, x.Rows, func(products []float32, width, from, to int) {
				for i := range panelColumns {
					for j := from; j < to; j++ {
						low, high := pr.bounds(pr.norm[i], pr.norm[j], products[i*width+j-from])
						if d2 := p.Dist2(i, j); low > d2 || high < d2 {
							t.Fatalf("%s: rows %d and %d at %v, between %v and %v", name, i, j, d2, low, high)
						} else if name == "noise" && high-low > 1e-4*(pr.norm[i]+pr.norm[j]) {
							t.Fatalf("%s: rows %d and %d at %v, between %v and %v", name, i, j, d2, low, high)
						}
					}
				}
			})
		}
	}
}

// Products are made where codes leave many pairs, and leave few of those that are not within the
// limit.
func TestProductsSharpen(t *testing.T) {
	workers := par.New(1)
	defer workers.Close()
	x := wideSets()["sparse"]
	p := pointtest.Open(x)
	req := &rows.Request{Points: p, Memory: 1 << 30, Workers: workers, Kernels: simd.At(simd.Best())}
	_, f, err := prepareNearest(t.Context(), 5, req)
	if err != nil {
		t.Fatal(err)
	}
	if f.s.products == nil {
		t.Fatal("no products of sparse rows, of which codes leave most pairs")
	}
	left := func() int64 {
		f.give = func(int, []uint32, []float64) {}
		f.left.Store(0)
		f.scratches = make([]*nearestScratch, workers.Count())
		if err := f.find(t.Context(), "", 0, f.s.tiles.count(), req); err != nil {
			t.Fatal(err)
		}
		return f.left.Load()
	}
	with := left()
	f.s.products = nil
	if without := left(); with > without*7/10 {
		t.Errorf("codes leave %d pairs, and products %d of them", without, with)
	}
}

// Products change no survey, radius or graph within a radius.
func TestProductsChangeNoSurvey(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for name, x := range wideSets() {
		p := pointtest.Open(x)
		req := &rows.Request{Points: p, Memory: 1 << 30, Gamma: 1, Workers: workers, Kernels: simd.At(simd.Best())}
		s := newSet(p, nil)
		median, wide, err := typicalRadii(t.Context(), s, 9, nil, req)
		if err != nil {
			t.Fatal(err)
		}
		var at, sure []float64
		for _, i := range rows.Spread(64, x.Rows) {
			var d2 []float64
			for j := range x.Rows {
				if j != i {
					d2 = append(d2, p.Dist2(i, j))
				}
			}
			slices.Sort(d2)
			at, sure = append(at, math.Sqrt(d2[9])), append(sure, math.Sqrt(d2[16]))
		}
		if want, wantWide := quantile(at, 0.5), quantile(sure, 0.9); median != want || wide != wantWide {
			t.Errorf("%s: radii %v and %v, want %v and %v", name, median, wide, want, wantWide)
		}
		median *= 1 + 1e-9 // no pair at the radius itself
		sv, err := takeSurvey(t.Context(), x.Rows, x.Cols, s.row, median, req)
		if err != nil {
			t.Fatal(err)
		}
		_, others := splitSample(rows.Spread(x.Rows, x.Rows))
		within, queries := 0, min(len(others), surveyQueries)
		for q := range queries {
			for j := range others {
				if i := q * len(others) / queries; i != j && p.Dist2(others[i], others[j]) <= rows.RadiusSquared(median) {
					within++
				}
			}
		}
		if want := float64(within) / (float64(queries) * float64(len(others)-1)); sv.found != want {
			t.Errorf("%s: the share %v is within the radius, want %v", name, sv.found, want)
		}
		if median == 0 || name == "below" { // nothing to weigh
			continue
		}
		req.Radius, req.Gamma = median, 1/(median*median)
		found, err := Search(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		pairs := 0
		for i := range x.Rows {
			for j := range i {
				if d2 := p.Dist2(i, j); d2 > 0 && d2 <= rows.RadiusSquared(median) {
					pairs++
				}
			}
		}
		if got := found.Weights.NNZ() / 2; got != pairs && found.Group == nil {
			t.Errorf("%s: %d pairs, want %d", name, got, pairs)
		}
	}
}

// ranked finds what sorting does, and asks for few numbers where bounds are sharp.
func TestRanked(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		n, off := 1+rng.IntN(40), []float64{0, 0.01, 1, math.Inf(1)}[trial%4]
		v, low, high := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range v {
			v[j] = math.Floor(5 * rng.Float64())
			low[j], high[j] = v[j]-off*rng.Float64(), v[j]+off*rng.Float64()
			if math.IsInf(off, 1) {
				low[j], high[j] = 0, off
			}
		}
		a, b := rng.IntN(n), rng.IntN(n)
		asked := 0
		got := ranked([]int{a, b}, low, high, func(j int) float64 { asked++; return v[j] })
		order := slices.Sorted(slices.Values(v))
		if got[0] != order[a] || got[1] != order[b] || asked > n {
			t.Fatalf("%v of %v, asked for %d", got, order, asked)
		}
	}
	asked := 0
	low := countTo(1000)
	ranked([]int{10, 30}, low, low, func(j int) float64 { asked++; return low[j] })
	if asked != 2 {
		t.Errorf("asked for %d numbers, want 2", asked)
	}
}

func countTo(n int) (out []float64) {
	for i := range n {
		out = append(out, float64(i))
	}
	return out
}

// Products come with the memory that Bytes counts.
func TestProductBytes(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	for _, d := range []int{65, 1000, 9000} {
		const n = 200
		x := pointtest.Make("uniform", n, d, 1)
		p := pointtest.Open(x)
		req := &rows.Request{Points: p, Workers: workers, Kernels: simd.At(simd.Best())}
		pr, err := newProducts(context.Background(), p.Single.Row, n, make([]float32, d), req)
		if err != nil {
			t.Fatal(err)
		}
		s := pr.scratch()
		held := 8*len(pr.norm) + 3*4*(len(s.left)+len(s.right)+len(s.products))
		if want := productBytes(n, d, 3); int64(held) != want {
			t.Errorf("%d columns: %d bytes, counted are %d", d, held, want)
		}
	}
	if productBytes(100, wideColumns, 1) != 0 {
		t.Error("short rows have no products")
	}
}
