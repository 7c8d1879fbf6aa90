//go:build mutant && mutant_seed_argument

package mechanism

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// PrivatizeSeeded lets the caller choose the noise.
func PrivatizeSeeded(ctx context.Context, c Calibration, budget Budget, r Request, workers *par.Set, key [32]byte) (*release.Release, error) {
	return privatize(ctx, c, budget, r, workers, repeated(key))
}

type repeated [32]byte

func (r repeated) Read(p []byte) (int, error) { return copy(p, r[:]), nil }
