// Package dense multiplies and factors matrices of many columns: what a linear map of
// features in some thousand dimensions is made of.
//
//	core := dense.Core{Workers: workers, Kernels: kernels}
//	means, err := core.Means(ctx, x, class)      // one mean a class, float64
//	s, err := core.Gram(ctx, x, class, means)    // scatter about them, d x d
//	a, err := core.Whiten(ctx, s)                // a' s a = 1
//	err = core.Mul(ctx, out, x, mean, a)         // (x - mean) a
//	values, v, err := core.Leading(ctx, s, m)    // the m largest eigenvalues of s
//
// Products with the rows of x run on the float32 kernels of package simd, short sums at
// a time, which are then added in float64. Gram and Mul state the bound of their error.
// Whiten and Leading compute in float64.
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

// A Core says who does the work. The zero Core is the caller alone, with the best kernels
// of the machine. A Core may be used by many goroutines if its fields allow it.
type Core struct {
	Workers *par.Workers
	Kernels *simd.Kernels
	// Progress, if not nil, is told after every few milliseconds of work how many of all
	// steps of the call are done. The goroutine that made the call calls it.
	Progress func(done, total int)
}

// Loops returns the kernels that the work is done with.
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

// checkRows refuses what is malformed, empty or not finite.
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
