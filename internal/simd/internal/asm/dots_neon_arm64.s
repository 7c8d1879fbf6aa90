//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

#define MULADD(m, n, d) FMLA4S(m, n, d)
#define ADDLANES(m, n, d) FADD4S(m, n, d)
#define ADDPAIRS(m, n, d) FADDP4S(m, n, d)

#include "dots_neon_arm64.h"

// func Dot2x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·Dot2x4F32NEON(SB), NOSPLIT, $0-56
	TILE2x4
	RET

// func Dot1x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·Dot1x4F32NEON(SB), NOSPLIT, $0-56
	TILE1x4
	RET

// func Dot1x1F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·Dot1x1F32NEON(SB), NOSPLIT, $0-56
	TILE1x1
	RET
