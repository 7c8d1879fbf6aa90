//go:build (!amd64 && !arm64) || !gc || noasm || purego

package simd

func detect() Level { return Generic }

func tableOf(Level, bool) *Kernels { return &genericKernels }
