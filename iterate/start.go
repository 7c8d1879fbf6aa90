package iterate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// RandomStart returns the n x k random start Q, normal entries of standard
// deviation sigma. It is a pure function of its arguments, the same on every
// machine (up to the last bit of math.Log between architectures):
//
//	Q_ij = sigma NormalQuantile((u + 1/2) 2^-52),
//
// row by row, u the top 52 bits of the successive words of a ChaCha8 stream
// keyed by SHA-256("privatemail Q 1", seed as 8 bytes little-endian).
//
// Q is public: it contains nothing about the data, and it is never the noise.
//
// The error is kernel.ErrShape for an empty Q, kernel.ErrMemory for one that does
// not fit into memory, kernel.ErrOption for a sigma that is not positive, or the error of
// ctx.
func RandomStart(ctx context.Context, n, k int, seed uint64, sigma float64) (blas64.General, error) {
	if n < 1 || k < 1 || k > math.MaxInt/8/n {
		return blas64.General{}, fmt.Errorf("iterate: random start: %w: %d x %d", kernel.ErrShape, n, k)
	}
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return blas64.General{}, fmt.Errorf("iterate: random start: %w: standard deviation %g, want a positive number", kernel.ErrOption, sigma)
	}
	need := 8 * int64(n) * int64(k)
	if most := min(mem.Available(), mem.AddressSpace-1); need > most {
		return blas64.General{}, fmt.Errorf("iterate: %w", &kernel.MemoryError{What: fmt.Sprintf("random start of %d x %d", n, k), Need: need, Limit: most})
	}
	q := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
	if err := random.Start(ctx, q.Data, seed, sigma); err != nil {
		return blas64.General{}, err
	}
	return q, nil
}
