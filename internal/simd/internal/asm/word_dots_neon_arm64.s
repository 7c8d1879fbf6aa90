//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

#define MULADD(m, n, d) MLA4S(m, n, d)
#define ADDLANES(m, n, d) ADD4S(m, n, d)
#define ADDPAIRS(m, n, d) ADDP4S(m, n, d)

#include "dots_neon_arm64.h"

// func WordDot2x4NEON(dst *uint32, dstStride uintptr, a *uint32, aStride uintptr, b *uint32, bStride uintptr, d uintptr)
TEXT ·WordDot2x4NEON(SB), NOSPLIT, $0-56
	TILE2x4
	RET

// func WordDot1x4NEON(dst *uint32, dstStride uintptr, a *uint32, aStride uintptr, b *uint32, bStride uintptr, d uintptr)
TEXT ·WordDot1x4NEON(SB), NOSPLIT, $0-56
	TILE1x4
	RET

// func WordDot1x1NEON(dst *uint32, dstStride uintptr, a *uint32, aStride uintptr, b *uint32, bStride uintptr, d uintptr)
TEXT ·WordDot1x1NEON(SB), NOSPLIT, $0-56
	TILE1x1
	RET
