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
