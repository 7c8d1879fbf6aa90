package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every number of 16 bits comes back unchanged, others are rounded to the nearest, and the
// error is as Float16 says.
func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		v := Float32(uint16(h))
		if v != v {
			continue
		}
		if got := Float16(v); got != uint16(h) {
			t.Fatalf("%#04x is %g and comes back as %#04x", h, v, got)
		}
		if next := Float32(uint16(h + 1)); h < 0x7bff {
			half := (v + next) / 2 // exact
			even := uint16(h + h&1)
			if got := Float16(half); got != even {
				t.Fatalf("%g is halfway and goes to %#04x, want %#04x", half, got, even)
			}
			if got := Float16(math.Nextafter32(half, 0)); got != uint16(h) {
				t.Fatalf("below %g: %#04x, want %#04x", half, got, h)
			}
			if got := Float16(math.Nextafter32(half, 1e9)); got != uint16(h+1) {
				t.Fatalf("above %g: %#04x, want %#04x", half, got, h+1)
			}
		}
	}
	for _, v := range []float32{65519.996, 65520, 1e30, float32(math.Inf(1))} {
		if got := Float16(v); (got == 0x7c00) != (v >= 65520) {
			t.Errorf("%g is %#04x", v, got)
		}
	}
	if v := Float32(Float16(float32(math.NaN()))); v == v {
		t.Error("NaN is converted to a number")
	}
	r := rand.New(rand.NewPCG(19, 20))
	for range 1_000_000 {
		v := math.Float32frombits(r.Uint32())
		if size := math.Abs(float64(v)); size < 65520 {
			if e := math.Abs(float64(Float32(Float16(v))) - float64(v)); e > max(size*0x1p-11, 0x1p-25) || (size >= 0x1p-14 && e > size*0x1p-11) {
				t.Fatalf("%g is off by %g", v, e)
			}
		}
	}
}
