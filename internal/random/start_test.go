package random

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// The extreme draws are finite.
func TestQuantileAtTheEnds(t *testing.T) {
	for _, u := range []float64{0, 1<<52 - 1} {
		if v := mathext.NormalQuantile((u + 0.5) * 0x1p-52); math.IsInf(v, 0) || math.Abs(v) < 8 {
			t.Errorf("u = %g gives %g", u, v)
		}
	}
}

// A start takes no memory but that of the generator.
func TestStartTakesNoMemory(t *testing.T) {
	q := make([]float32, 10_000)
	if n := testing.AllocsPerRun(10, func() {
		if err := Start(context.Background(), q, 5, 3); err != nil {
			t.Fatal(err)
		}
	}); n > 5 {
		t.Errorf("%g allocations", n)
	}
}
