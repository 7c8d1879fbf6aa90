//go:build gc && !noasm && !purego

package simd

import (
	"runtime"

	"github.com/klauspost/cpuid/v2"
)

// detect asks cpuid on the systems that cpuid supports. Elsewhere it assumes Advanced
// SIMD, as the runtime of Go does on every arm64 processor.
func detect() Level {
	switch runtime.GOOS {
	case "linux", "darwin":
		if !cpuid.CPU.Supports(cpuid.ASIMD) {
			return Generic
		}
	}
	return NEON
}
