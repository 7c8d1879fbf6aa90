//go:build gc && !noasm && !purego

package simd

import "github.com/klauspost/cpuid/v2"

// detect asks for every set of instructions that the generated files list under
// "Requires". cpuid reports AVX and AVX-512 only where the operating system saves the
// registers.
func detect() Level {
	cpu := &cpuid.CPU
	switch {
	case !cpu.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C, cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT, cpuid.CMOV):
		return Generic
	case !cpu.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return AVX2
	case !cpu.Supports(cpuid.AVX512VNNI):
		return AVX512
	case !cpu.Supports(cpuid.AMXTILE, cpuid.AMXINT8) || !tilesPermitted():
		return AVX512VNNI
	}
	return AMX
}
