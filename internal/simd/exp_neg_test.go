package simd

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

var exhaustive = flag.Bool("exhaustive", false, "test every float32")

// ulps returns the distance of got from the exact value in units of the last
// place of the float32 next to it.
func ulps(got float32, exact float64) float64 {
	if exact >= math.MaxFloat32*(1+0x1p-25) || exact <= 0x1p-150 {
		if float64(got) == float64(float32(exact)) {
			return 0
		}
	}
	_, e := math.Frexp(exact)
	return math.Abs(float64(got)-exact) / math.Ldexp(1, max(e-24, -149))
}

func TestExpNeg(t *testing.T) {
	const block = 1 << 16
	x, want, got := make([]float32, block), make([]float32, block), make([]float32, block)
	worst, step := 0.0, uint64(257) // odd, so that every low bit pattern comes up
	switch {
	case *exhaustive:
		step = 1
	case !longtest.Wanted(): // an emulated processor is slow
		step = 4111
	}
	for from := uint64(0); from < 1<<32; from += block * step {
		for i := range x {
			x[i] = math.Float32frombits(uint32(from + uint64(i)*step))
		}
		expNegF32Go(want, x)
		for _, level := range Levels() {
			At(level).expNeg(got, x)
			for i, v := range got {
				if math.Float32bits(v) != math.Float32bits(want[i]) && !(v != v && want[i] != want[i]) {
					t.Fatalf("%v: exp(-%g) = %g, but %g in Go", level, x[i], v, want[i])
				}
			}
		}
		for i, v := range want {
			if x[i] != x[i] {
				if v == v {
					t.Fatalf("exp(-NaN) = %g", v)
				}
				continue
			}
			if e := ulps(v, math.Exp(-float64(x[i]))); e > worst {
				worst = e
				if !(e <= 0.59) {
					t.Fatalf("exp(-%g) = %g is off by %.3f units", x[i], v, e)
				}
			}
		}
	}
	t.Logf("largest error %.4f units of the last place", worst)
}

func TestExpNegSpecial(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ x, want float32 }{
		{0, 1}, {float32(math.Copysign(0, -1)), 1}, {104, 0}, {103.9720764, 1e-45}, {1e30, 0}, {inf, 0}, {-inf, inf}, {-89, inf}, {1e-40, 1},
	} {
		for _, level := range Levels() {
			got := make([]float32, 1)
			if At(level).expNeg(got, []float32{c.x}); got[0] != c.want {
				t.Errorf("%v: exp(-%g) = %g, want %g", level, c.x, got[0], c.want)
			}
		}
	}
}

// Blocks of any length, in place or not, touch nothing else.
func TestExpNegLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, level := range Levels() {
		for n := 1; n < 68; n++ {
			t.Run(fmt.Sprintf("level=%v/n=%d", level, n), func(t *testing.T) {
				x, got, want := guarded[float32](t, n), guarded[float32](t, n), make([]float32, n)
				for i := range x {
					x[i] = float32(r.NormFloat64() * 30)
				}
				expNegF32Go(want, x)
				At(level).expNeg(got, x)
				if !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
				if At(level).expNeg(x, x); !slices.Equal(x, want) {
					t.Fatalf("in place: %v, want %v", x, want)
				}
			})
		}
	}
}

func TestWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, level := range Levels() {
		for n := range 68 {
			t.Run(fmt.Sprintf("level=%v/n=%d", level, n), func(t *testing.T) {
				d2 := guarded[float64](t, n)
				for i := range d2 {
					d2[i] = r.ExpFloat64() * 30
				}
				gamma := r.ExpFloat64()
				want, got := make([]float32, n), guarded[float32](t, n)
				weightsF32Go(want, d2, gamma)
				At(level).Weights(got, d2, gamma)
				for i, v := range got {
					if v != want[i] {
						t.Fatalf("entry %d: %g, want %g", i, v, want[i])
					}
					exact := math.Exp(-gamma * d2[i])
					if math.Abs(float64(v)-exact) > exact*(1.18*0x1p-24+gamma*d2[i]*0x1p-53)+0.59*0x1p-149 {
						t.Fatalf("entry %d: %g, want %g", i, v, exact)
					}
				}
			})
		}
	}
}
