package iterate

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The first entries for seed 1. They fix the definition: a change of them
// changes every released number and belongs in the change log.
func TestRandomStartIsPinned(t *testing.T) {
	q, err := RandomStart(t.Context(), 2, 3, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0.22870832993901274, 0.95703533152545261, 0.75072857145750826, 0.78683270672525041, -0.47651091064828477, 0.18875441078506913}
	for i, w := range want {
		if math.Abs(q.Data[i]-w) > 1e-14 {
			t.Errorf("Q[%d] = %.17g, want %.17g", i, q.Data[i], w)
		}
	}
	longer, err := RandomStart(t.Context(), 3, 2, 1, 1e-8)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range longer.Data {
		if math.Abs(v-1e-8*q.Data[i]) > 1e-24 {
			t.Errorf("entry %d depends on the shape or not linearly on sigma", i)
		}
	}
	other, err := RandomStart(t.Context(), 2, 3, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(other.Data, q.Data) {
		t.Error("the seed has no effect")
	}
}

// Kolmogorov-Smirnov against the normal law; the seed is fixed, so the test
// cannot fail by chance. 1.95/sqrt(n) is passed by chance in 999 of 1000.
func TestRandomStartIsNormal(t *testing.T) {
	const n = 100_000
	q, err := RandomStart(t.Context(), n, 1, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(q.Data)
	worst := 0.0
	for i, v := range q.Data {
		f := 0.5 * math.Erfc(-v/2/math.Sqrt2)
		worst = max(worst, math.Abs(f-float64(i)/n), math.Abs(f-float64(i+1)/n))
	}
	if worst > 1.95/math.Sqrt(n) {
		t.Errorf("distance %g from the normal law", worst)
	}
}

func TestRandomStartCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RandomStart(ctx, 10, 1, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Absurd sizes are refused before anything is allocated for them.
func TestRandomStartBeyondMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 20))
	for _, n := range []int{1 << 20, math.MaxInt / 64} {
		if _, err := RandomStart(t.Context(), n, 2, 1, 1); !errors.Is(err, kernel.ErrMemory) {
			t.Errorf("%d rows: err = %v", n, err)
		}
	}
}

func TestBadRandomStart(t *testing.T) {
	for _, c := range []struct {
		n, k  int
		sigma float64
		want  error
	}{
		{0, 2, 1, kernel.ErrShape}, {2, 0, 1, kernel.ErrShape}, {math.MaxInt, 2, 1, kernel.ErrShape},
		{2, 2, 0, kernel.ErrOption}, {2, 2, -1, kernel.ErrOption}, {2, 2, math.NaN(), kernel.ErrOption}, {2, 2, math.Inf(1), kernel.ErrOption},
	} {
		if _, err := RandomStart(t.Context(), c.n, c.k, 1, c.sigma); !errors.Is(err, c.want) {
			t.Errorf("%+v: err = %v", c, err)
		}
	}
}

// A start in float32 is the one in float64, rounded.
func TestRandomStartInFloat32(t *testing.T) {
	q, err := RandomStart(t.Context(), 70_000, 2, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, len(q.Data))
	if err := random.Start(t.Context(), x, 5, 3); err != nil {
		t.Fatal(err)
	}
	for i, v := range q.Data {
		if x[i] != float32(v) {
			t.Fatalf("entry %d differs", i)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := random.Start(ctx, x, 5, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
