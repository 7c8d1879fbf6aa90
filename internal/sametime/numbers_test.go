package sametime

import (
	"math"
	"testing"
)

// Masks and keys agree with plain comparisons.
func TestMasks(t *testing.T) {
	numbers := []float64{math.Inf(-1), -math.MaxFloat64, -2, -1, -5e-324, 0, 5e-324, .5, 1, 3, math.MaxFloat64, math.Inf(1)}
	for i, a := range numbers {
		if Unorder(Order(a)) != a || Order(a) == math.MaxUint64 {
			t.Errorf("%g does not come back", a)
		}
		for j, b := range numbers {
			if got := Less(Order(a), Order(b)) != 0; got != (i < j) {
				t.Errorf("%g below %g: %v", a, b, got)
			}
		}
	}
	for _, a := range numbers[5:] {
		for _, b := range numbers[5:] {
			if got := Larger(a, b); got != max(a, b) {
				t.Errorf("the larger of %g and %g is %g", a, b, got)
			}
		}
	}
	for _, x := range []float64{0, .5, -.5, 1.5, -1.5, 2.5, .49999999999999994, math.MaxInt32, -math.MaxInt32, 123456.5, -1e9 - .75, 1 << 40} {
		if got, want := NearestWhole(x), uint32(int64(math.RoundToEven(x))); got != want {
			t.Errorf("%g: %d, want %d", x, got, want)
		}
	}
	for _, a := range []uint32{0, 1, 2, 1 << 31, math.MaxUint32} {
		for _, b := range []uint32{0, 1, 2, 1 << 31, math.MaxUint32} {
			want := uint32(0)
			if a == b {
				want = math.MaxUint32
			}
			if Equal(a, b) != want || Choose(want, a, b) != b && a != b || Choose(^uint32(0), a, b) != a {
				t.Errorf("%d and %d: %x", a, b, Equal(a, b))
			}
		}
	}
}

func TestDropSmall(t *testing.T) {
	least := 0x1p-400
	for _, x := range []float64{0, 5e-324, 0x1p-1022, math.Nextafter(least, 0), least, math.Nextafter(least, 1), 1, 0x1p500, math.MaxFloat64} {
		for _, v := range []float64{x, -x} {
			want := v
			if math.Abs(v) < least {
				want = 0
			}
			if got := DropSmall(v, least); got != want || got == 0 && math.Signbit(got) {
				t.Errorf("%g becomes %g", v, got)
			}
		}
	}
}

func TestDropSubnormal(t *testing.T) {
	for _, x := range []float32{0, 1e-45, math.SmallestNonzeroFloat32, 0x1.fffffcp-127, 0x1p-126, 0x1.8p-126, 1, math.MaxFloat32} {
		for _, v := range []float32{x, -x, float32(math.Copysign(float64(x), -1))} {
			want := v
			if math.Abs(float64(v)) < 0x1p-126 {
				want = 0
			}
			if got := DropSubnormal(v); got != want || got == 0 && math.Signbit(float64(got)) {
				t.Errorf("%g becomes %g", v, got)
			}
		}
	}
}

func TestClamp(t *testing.T) {
	for _, most := range []float64{0, 1, math.MaxFloat32} {
		for _, x := range []float64{0, 5e-324, .5, 1, math.Nextafter(1, 2), math.MaxFloat32, 0x1p128, math.Inf(1)} {
			if got := Clamp(x, most); got != min(x, most) {
				t.Errorf("%g within %g: %g", x, most, got)
			}
			if got := Clamp(-x, most); got != max(-x, -most) {
				t.Errorf("%g within %g: %g", -x, most, got)
			}
		}
	}
}
