package kernel

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// pointKinds are the shapes of data that break neighbour searches.
var pointKinds = map[string]func(rng *rand.Rand, n, d int) []float32{
	"uniform": func(rng *rand.Rand, n, d int) []float32 {
		return fill(n*d, func(int) float64 { return rng.Float64() })
	},
	"clustered": func(rng *rand.Rand, n, d int) []float32 {
		centre := fill(4*d, func(int) float64 { return 100 * rng.Float64() })
		spread := []float64{1e-3, 1e-2, 1, 10}
		out := make([]float32, n*d)
		for i := range n {
			c := rng.IntN(4)
			for a := range d {
				out[i*d+a] = centre[c*d+a] + float32(spread[c]*rng.NormFloat64())
			}
		}
		return out
	},
	"lattice": func(rng *rand.Rand, n, d int) []float32 { // many equal distances and equal points
		return fill(n*d, func(int) float64 { return float64(rng.IntN(5)) })
	},
	"collinear": func(rng *rand.Rand, n, d int) []float32 {
		out := make([]float32, n*d)
		for i := range n {
			t := rng.Float64()
			for a := range d {
				out[i*d+a] = float32(t * float64(a+1))
			}
		}
		return out
	},
	"identical": func(rng *rand.Rand, n, d int) []float32 {
		v := rng.NormFloat64()
		return fill(n*d, func(int) float64 { return v })
	},
	"far away": func(rng *rand.Rand, n, d int) []float32 { // precision of the coordinates is 1/16
		return fill(n*d, func(int) float64 { return 1e6 + rng.Float64() })
	},
	"outlier": func(rng *rand.Rand, n, d int) []float32 {
		out := fill(n*d, func(int) float64 { return rng.NormFloat64() })
		for a := range d {
			out[a] = 1e7
		}
		return out
	},
	"one thin axis": func(rng *rand.Rand, n, d int) []float32 {
		return fill(n*d, func(i int) float64 {
			if i%d == 0 {
				return 1e-6 * rng.Float64()
			}
			return rng.Float64()
		})
	},
}

func kindNames() (names []string) {
	for _, name := range []string{"uniform", "clustered", "lattice", "collinear", "identical", "far away", "outlier", "one thin axis"} {
		if pointKinds[name] == nil {
			panic("no kind " + name)
		}
		names = append(names, name)
	}
	return names
}

func fill(n int, value func(i int) float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(value(i))
	}
	return out
}

func rngOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func makePoints(kind string, n, d int, seed uint64) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: pointKinds[kind](rngOf(seed), n, d)}
}

// drawPoints draws a hard set of up to most points in the given dimensions.
func drawPoints(t *rapid.T, most int, dims []int) blas32.General {
	kind := rapid.SampledFrom(kindNames()).Draw(t, "kind")
	n := rapid.IntRange(1, most).Draw(t, "n")
	d := rapid.SampledFrom(dims).Draw(t, "d")
	return makePoints(kind, n, d, rapid.Uint64().Draw(t, "seed"))
}

// typicalDistance is the distance of two random rows, 1 if they are equal.
func typicalDistance(p blas32.General, rng *rand.Rand) float64 {
	for range 20 {
		if d2 := rows.Dist2(rows.View32(p).Row(rng.IntN(p.Rows)), rows.View32(p).Row(rng.IntN(p.Rows))); d2 > 0 {
			return math.Sqrt(d2)
		}
	}
	return 1
}

func randomBlock(rng *rand.Rand, n, k int) blas32.General {
	return blas32.General{Rows: n, Cols: k, Stride: k, Data: fill(n*k, func(int) float64 { return rng.NormFloat64() })}
}

func widen(m blas32.General) blas64.General {
	out := blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: make([]float64, m.Rows*m.Cols)}
	for i := range m.Rows {
		for c, v := range m.Data[i*m.Stride:][:m.Cols] {
			out.Data[i*m.Cols+c] = float64(v)
		}
	}
	return out
}

func zeros32(n, k int) blas32.General {
	return blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
}

func zeros64(n, k int) blas64.General {
	return blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
}

// permuteRows returns row order[i] of x as row i; nil leaves x as it is.
func permuteRows(x blas32.General, order []uint32) blas32.General {
	if order == nil {
		return x
	}
	out := zeros32(x.Rows, x.Cols)
	for i, from := range order {
		copy(out.Data[i*x.Cols:][:x.Cols], x.Data[int(from)*x.Stride:])
	}
	return out
}

// randomLabels has classes labels with gaps and, if asked, unlabelled rows.
func randomLabels(rng *rand.Rand, n, classes int, unlabelled bool) []int32 {
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(3 * rng.IntN(classes))
		if unlabelled && rng.IntN(4) == 0 {
			y[i] = Unlabelled
		}
	}
	return y
}
