package cli

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

func TestSettingWords(t *testing.T) {
	for _, c := range [][4]string{
		{"avx2", "", "", "avx2"},
		{"avx512", "gather=off", "measured", "avx512,gather=off (measured)"},
		{"amx", "gather=on", "PM_SIMD", "amx,gather=on (PM_SIMD)"},
		{"amx", "gather=on", "", "amx,gather=on"},
	} {
		if got := SettingWords(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%q, want %q", got, c[3])
		}
	}
}

// Choices are those of the kernels in use, and have an origin if there are any.
func TestChoices(t *testing.T) {
	choices, from := Choices()
	if want := simd.At(simd.Best()).Choices(); choices != want {
		t.Errorf("%q, want %q", choices, want)
	}
	switch {
	case choices == "":
		if from != "" {
			t.Errorf("nothing is chosen, from %q", from)
		}
	case (from == "measured") != simd.Measured() || from != "measured" && from != "PM_SIMD":
		t.Errorf("%q from %q, measured %v", choices, from, simd.Measured())
	}
}
