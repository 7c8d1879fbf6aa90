//go:build gc && !noasm && !purego

package simd

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// detect asks cpuid where it looks. Elsewhere Advanced SIMD is taken for granted,
// as Go's own runtime takes it on every arm64 processor.
func detect() Level {
	switch runtime.GOOS {
	case "linux", "darwin":
		if !cpuid.CPU.Supports(cpuid.ASIMD) {
			return Generic
		}
	}
	return NEON
}
