package formats

import (
	"math"
	"testing"
)

// TestFloat16 compares all 65536 numbers with their definition: (-1)^s 2^(e-15) (1 + f/1024),
// with 2^-14 (f/1024) for e = 0 and infinity or NaN for e = 31, evaluated in float64.
func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		e, f := h>>10&31, float64(h&1023)/1024
		want := math.Ldexp(1+f, e-15)
		switch {
		case e == 0:
			want = math.Ldexp(f, -14)
		case e == 31 && f == 0:
			want = math.Inf(1)
		case e == 31:
			want = math.NaN()
		}
		if h>>15 == 1 {
			want = math.Copysign(want, -1)
		}
		got := float64(float16(uint16(h)))
		if math.IsNaN(want) != math.IsNaN(got) || math.Signbit(want) != math.Signbit(got) || !math.IsNaN(want) && want != got {
			t.Fatalf("float16(%#04x) = %v, want %v", h, got, want)
		}
	}
}

// TestToFloat16 converts every number to itself, a number between two neighbours to the nearer
// one, and a number halfway between them to the even one.
func TestToFloat16(t *testing.T) {
	check := func(v float32, want uint16) {
		t.Helper()
		for sign := range uint16(2) {
			if got := toFloat16(v); got != want|sign<<15 {
				t.Fatalf("toFloat16(%b) = %#04x, want %#04x", v, got, want|sign<<15)
			}
			v = -v
		}
	}
	const infinite = 0x7c00
	for h := range uint16(infinite) {
		low, high := float16(h), float16(h+1)
		if h+1 == infinite {
			high = 0x1p16 // where the next one would be
		}
		half := low + (high-low)/2 // exact: float32 has 13 bits more
		check(low, h)
		check(half, h+h&1)
		check(math.Nextafter32(half, 0), h)
		check(math.Nextafter32(half, high), h+1)
		check(math.Nextafter32(low, high), h)
		check(math.Nextafter32(high, low), h+1)
	}
	for _, v := range []float64{65520, 65536, math.MaxFloat32, math.Inf(1)} {
		check(float32(v), infinite)
	}
	check(math.SmallestNonzeroFloat32, 0)
	for h := range 1 << 16 { // both signs, infinities, every NaN
		got := toFloat16(float16(uint16(h)))
		if h&0x7fff > infinite {
			const quiet = 0x200 // some machines set it when a NaN moves
			got, h = got|quiet, h|quiet
		}
		if got != uint16(h) {
			t.Fatalf("%#04x became %#04x", h, got)
		}
	}
	if h := toFloat16(math.Float32frombits(0xff<<23 | 1)); h&0x7fff <= infinite {
		t.Errorf("a NaN became %#04x", h)
	}
}
