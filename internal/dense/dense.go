// Package dense multiplies and factors matrices of many columns, as needed for linear
// maps of features in some thousand dimensions.
//
//	core := dense.Core{Workers: workers, Kernels: kernels}
//	means, err := core.Means(ctx, x, class)      // one mean per class, float64
//	s, err := core.Gram(ctx, x, class, means)    // scatter about them, d x d
//	a, err := core.Whiten(ctx, s)                // a' s a = 1
//	err = core.Mul(ctx, out, x, mean, a)         // (x - mean) a
//	values, v, err := core.Leading(ctx, s, m)    // the m largest eigenvalues of s
//
// Products with the rows of x run on the float32 kernels of package simd, in short sums
// that are then added in float64. Gram and Mul state a bound of their error. Whiten and
// Leading compute in float64.
//
// Work is split by the sizes of the matrices and partial sums are added in order, so
// results have the same bits for any number of workers. The bits of Gram and Mul depend
// on the level of the kernels, as those of simd.Dots do.
package dense

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Core says who does the work. The zero Core uses the caller alone, with the best
// kernels of the machine. A Core may be used by many goroutines if its fields allow it.
type Core struct {
	Workers *par.Workers
	Kernels *simd.Kernels
	// Progress, if not nil, is called after every few milliseconds of work with the
	// number of steps of the call that are done, and of all. It runs in the goroutine
	// that made the call.
	Progress func(done, total int)
}

// Loops returns the kernels that do the work.
func (c *Core) Loops() *simd.Kernels {
	if c.Kernels == nil {
		return simd.At(simd.Best())
	}
	return c.Kernels
}

// do runs a task on the workers. Unlike Workers.Do it also returns the error of a context
// that ended while the last pieces ran.
func (c *Core) do(ctx context.Context, pieces int, f par.Func) error {
	if err := c.Workers.Do(ctx, pieces, f); err != nil {
		return err
	}
	return ctx.Err()
}

func (c *Core) report(done, total int) {
	if c.Progress != nil {
		c.Progress(done, total)
	}
}

// rowOf returns row i of x.
func rowOf(x blas32.General, i int) []float32 { return x.Data[i*x.Stride:][:x.Cols] }

// checkRows refuses rows that are malformed, empty or not finite.
func checkRows(k *simd.Kernels, x blas32.General) error {
	n, d, err := points.Dims(x)
	if err != nil {
		return err
	}
	if n == 0 || d == 0 {
		return fmt.Errorf("%w: %d x %d is empty", points.ErrShape, n, d)
	}
	for i := range n {
		if !k.Finite(rowOf(x, i)) {
			return points.CheckFinite(x)
		}
	}
	return nil
}
