package random

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// Start sets q to the entries of iterate.RandomStart, row by row; in float32 they are rounded. sigma
// is positive. The error is that of ctx, with some of q set.
func Start[T float32 | float64](ctx context.Context, q []T, seed uint64, sigma float64) error {
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
