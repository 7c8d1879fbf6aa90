// Package asm holds the loops of package simd that are written in assembly, a file for
// each family and level, and the Go declarations of their functions, a file for each
// level.
//
// Programs in simd/_gen write the assembly of amd64; that of arm64 is written by hand. A
// declaration says what its function computes, or names the function of package simd,
// ending in Go, that computes the same. Only package simd calls the functions: they
// trust their arguments, and the caller has made sure that the processor has the
// instructions of their level.
package asm
