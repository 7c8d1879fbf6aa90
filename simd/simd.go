// Package simd names the sets of processor instructions that the inner loops of this module are
// written for. A program picks one when it starts:
//
//	engine, err := privatemail.New(privatemail.WithLevel(simd.AVX2))
//	kernels := simd.At(simd.Best()) // for kernel.Options and the methods of sparse.CSR
//
// [Best] asks the processor and the operating system what they support, and without a level
// everything runs at Best. The environment variable PM_SIMD, read once, and the argument of [At]
// lower the level; neither raises it. PM_SIMD is the name of a level, such as avx2 or generic, a
// choice between loops that give the same bits, gather=on or gather=off, or both with a comma
// between them. Without a choice the first call of At times both, mostly in a fraction of a
// millisecond.
//
// Loops have the same bits at every level and on every architecture, except for sums of products
// in float32, which have the same bits at one level and an error bound between levels.
//
// The levels avx2, avx512, avx512vnni and amx are those of amd64; neon is that of arm64. Other
// architectures, and builds with the tags noasm or purego, run plain Go. The loops themselves are
// in package internal/simd.
package simd

import "github.com/seed-64e14a55/privatemail/internal/simd"

// A Level names a set of instructions. Its String is the name that PM_SIMD uses.
type Level = simd.Level

// The levels. On amd64 each includes those before it; NEON is separate.
const (
	Generic    = simd.Generic    // plain Go, everywhere
	AVX2       = simd.AVX2       // with FMA, F16C, BMI1, BMI2 and POPCNT
	AVX512     = simd.AVX512     // F, BW, DQ and VL
	AVX512VNNI = simd.AVX512VNNI // with the dot products of bytes
	AMX        = simd.AMX        // with tiles of bytes, which the operating system permits
	NEON       = simd.NEON       // of arm64
)

// Kernels are the inner loops of one level. Their Level method returns it.
type Kernels = simd.Kernels

// Best returns the default level. It is the highest that this build, the processor and the
// operating system have, or the lower one that the environment variable PM_SIMD names. The first
// call reads the variable and asks the processor; later calls return the same.
func Best() Level { return simd.Best() }

// Levels returns the levels that At distinguishes on this machine, lowest first.
func Levels() []Level { return simd.Levels() }

// At returns the kernels of a level, or of the highest below it where Best is lower. Where the
// level has loops to choose from, At takes those that PM_SIMD asks for, or those that are faster
// on this machine: the first such call measures them.
func At(level Level) *Kernels { return simd.At(level) }
