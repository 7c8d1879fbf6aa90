package kernel

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

func mustPoints(t tester, p blas32.General) *rows.Points {
	t.Helper()
	pts, err := points32(t.Context(), p, &Options{Kernels: simd.At(simd.Best())})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return pts
}

func randomBlock(rng *rand.Rand, n, k int) blas32.General {
	return blas32.General{Rows: n, Cols: k, Stride: k, Data: pointtest.Fill(n*k, func(int) float64 { return rng.NormFloat64() })}
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

// planOf opens points and plans.
func planOf(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) ([]Candidate, error) {
	pts, err := Open(p, opt)
	if err != nil {
		return nil, err
	}
	return pts.Plan(ctx, b, opt)
}

// bandwidthForDegree opens points and finds a bandwidth.
func bandwidthForDegree(ctx context.Context, p blas32.General, degree, cutoff float64, opt *Options) (Bandwidth, float64, error) {
	pts, err := Open(p, opt)
	if err != nil {
		return Bandwidth{}, 0, err
	}
	return pts.BandwidthForDegree(ctx, degree, cutoff, opt)
}

// as returns the operator behind the interface that a constructor returns.
func as[C, I Operator](op I, err error) (C, error) {
	if err != nil {
		var none C
		return none, err
	}
	return any(op).(C), nil
}

// openPairs opens points and builds the operator.
func openPairs(ctx context.Context, p blas32.General, b Bandwidth, opt *Options) (Truncated, error) {
	pts, o, err := open(ctx, p, b, opt)
	if err != nil {
		return nil, err
	}
	radius, err := pts.cutoff(ctx, b, o)
	if err != nil {
		return nil, err
	}
	return orNil[Truncated](newPairs(ctx, pts.rows, b, radius, o))
}
