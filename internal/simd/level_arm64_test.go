//go:build gc && !noasm && !purego

package simd

import (
	"os"
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// Without this test, the tests of every level would pass with plain Go alone.
func TestLevelsHaveNEON(t *testing.T) {
	if got := host(); got != NEON {
		t.Errorf("this processor has level %v", got)
	}
	want := []Level{Generic, NEON}
	if parseSetting(os.Getenv("PM_SIMD"), NEON).level == Generic {
		want = want[:1]
	}
	if got := Levels(); !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

// MulWords has its own loop where the processor has dot products of bytes, and nowhere else.
func TestDotProductsOfNEON(t *testing.T) {
	if got, want := At(NEON).SameLoop(At(Generic), "MulWords"), At(NEON).Level() == Generic || !cpuid.CPU.Supports(cpuid.ASIMDDP); got != want {
		t.Errorf("plain Go: %v, want %v", got, want)
	}
}
