package mem

import (
	"math"
	"testing"
)

// Numbers that do not fit count as no limit, and never as a small size.
func TestSizesThatDoNotFit(t *testing.T) {
	for text, want := range map[string]int64{
		"MemAvailable: 9007199254740992 kB\n":    unlimited, // 2^63 bytes
		"MemAvailable: 9223372036854775807 kB\n": unlimited,
		"MemAvailable: 9007199254740991 kB\n":    9007199254740991 * 1024,
		"MemAvailable: -1 kB\n":                  unlimited,
		"":                                       unlimited,
	} {
		if got := meminfoLeft([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for v, want := range map[float64]int64{0: 0, 12.9: 12, 1 << 62: 1 << 62, 1 << 63: math.MaxInt64, 1e300: math.MaxInt64, math.Inf(1): math.MaxInt64} {
		if got := Saturate(v); got != want {
			t.Errorf("%g: %d, want %d", v, got, want)
		}
	}
}
