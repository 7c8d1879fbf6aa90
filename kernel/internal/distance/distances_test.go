package distance

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// What comes before a search ends with the context, too.
func TestPreparationsStopWithTheContext(t *testing.T) {
	workers := par.New(1)
	defer workers.Close()
	p := pointtest.Open(pointtest.Make("uniform", 100, 16, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func() error{
		"distances":      func() error { _, err := NewDistancer(ctx, p, nil, workers, simd.At(simd.Best())); return err },
		"unit distances": func() error { _, err := NewUnitDistancer(ctx, p, workers, simd.At(simd.Best())); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
