package codes

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// typicalRadii, which comes before the search, ends with the context, too.
func TestTypicalRadiiStopWithTheContext(t *testing.T) {
	workers := par.New(1)
	defer workers.Close()
	p := pointtest.Open(pointtest.Make("uniform", 100, 16, 1))
	req := &rows.Request{Points: p, Memory: 1 << 30, Workers: workers, Kernels: simd.At(simd.Best())}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := typicalRadii(ctx, newSet(p, nil), 3, nil, req); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
