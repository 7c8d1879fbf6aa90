package iterate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/internal/mem"
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
	if err := checkSigma(sigma); err != nil {
		return blas64.General{}, err
	}
	need := 8 * int64(n) * int64(k)
	if most := min(mem.Available(), mem.AddressSpace-1); need > most {
		return blas64.General{}, fmt.Errorf("iterate: %w", &kernel.MemoryError{What: fmt.Sprintf("random start of %d x %d", n, k), Need: need, Limit: most})
	}
	q := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
	if err := fillRandom(ctx, q.Data, seed, sigma); err != nil {
		return blas64.General{}, err
	}
	return q, nil
}

// FillRandomStart sets x, a contiguous matrix, to RandomStart rounded to float32. It takes no
// memory. Errors: kernel.ErrOption for a sigma that is not positive, or the error of ctx, with some
// of x set.
func FillRandomStart(ctx context.Context, x blas32.General, seed uint64, sigma float64) error {
	if err := checkSigma(sigma); err != nil {
		return err
	}
	return fillRandom(ctx, x.Data[:x.Rows*x.Cols], seed, sigma)
}

func checkSigma(sigma float64) error {
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return fmt.Errorf("iterate: random start: %w: standard deviation %g, want a positive number", kernel.ErrOption, sigma)
	}
	return nil
}

// fillRandom sets q to the entries of a random start.
func fillRandom[T float32 | float64](ctx context.Context, q []T, seed uint64, sigma float64) error {
	key := binary.LittleEndian.AppendUint64([]byte("privatemail Q 1"), seed)
	stream := rand.NewChaCha8(sha256.Sum256(key))
	for i := range q {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		u := stream.Uint64() >> 12
		q[i] = T(sigma * mathext.NormalQuantile((float64(u)+0.5)*0x1p-52))
	}
	return nil
}
