package supervised

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// odd are values with which roots, norms and conversions go wrong first.
var odd = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2, -3, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-126, -0x1.fffffcp-127, 0x1.fffffep+127}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// Roots are those of float64, rounded, bit for bit.
func TestTakeRoots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := slices.Clone(odd)
	for range 100_000 {
		if v := math.Float32frombits(rng.Uint32()); v-v == 0 {
			values = append(values, v)
		}
	}
	got := slices.Clone(values)
	takeRoots(got)
	for i, v := range values {
		want := float32(math.Sqrt(math.Abs(float64(v))))
		if v < 0 {
			want = -want
		}
		if !sameBits(got[i], want) {
			t.Fatalf("the root of %g is %g, want %g", v, got[i], want)
		}
	}
}

// Rows that are normalised together have the bits of each alone, for every number of rows and at
// every level.
func TestNormalizeAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, level := range simd.Levels() {
		k := simd.At(level)
		for n := range 10 {
			x := blas32.General{Rows: n, Cols: 17, Stride: 19, Data: make([]float32, 19*n)}
			for i := range x.Data {
				x.Data[i] = float32(rng.NormFloat64() * math.Exp(20*rng.NormFloat64()))
			}
			if n > 2 {
				clear(rowOf(x, 1))
			}
			want := slices.Clone(x.Data)
			for i := range n {
				plainNormalize(want[i*19:][:17])
			}
			normalizeAll(k, x)
			if !slices.EqualFunc(x.Data, want, sameBits) {
				t.Errorf("%v, %d rows: other bits", level, n)
			}
		}
	}
}

// plainNormalize is the reference.
func plainNormalize(row []float32) {
	var sum float64
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	for j, v := range row {
		if sum != 0 {
			row[j] = float32(float64(v) * (1 / math.Sqrt(sum)))
		}
	}
}

// What float32 cannot hold becomes the largest it can, and powers of two are exact.
func TestHeldAndGrow(t *testing.T) {
	for _, x := range []float64{0, 1, math.MaxFloat32, 3.4028235677973366e38, 1e300, math.Inf(1), 5e-324} {
		for _, x := range []float64{x, -x} {
			want := float32(max(-math.MaxFloat32, min(x, math.MaxFloat32)))
			if got := held(x); !sameBits(got, want) {
				t.Errorf("%g: %g, want %g", x, got, want)
			}
		}
	}
	for _, exp := range []int{-1000, -300, -30, -1, 1, 40, 300} {
		got := slices.Clone(odd)
		grow(got, exp)
		for i, v := range odd {
			want := float32(max(-math.MaxFloat32, min(math.Ldexp(float64(v), exp), math.MaxFloat32)))
			if !sameBits(got[i], want) {
				t.Errorf("%g times 2^%d: %g, want %g", v, exp, got[i], want)
			}
		}
	}
}
