//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

// R0 dst, R1 its stride in bytes, R2 and R3 rows of a, R4-R7 rows of b, R8
// columns left. V0-V3 are of a, V4-V11 of b; V16-V31 are the sums of pairs, two
// vectors each: columns 0-3 and 4-7 of eight. Columns that fill no vector are
// added to the first lane, so that a pair has the same bits in every tile.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

// s += a b and s += (a - b)^2 for vectors.
#define DOT(a, b, s) FMLA4S(b, a, s)
#define SQDIST(a, b, s) FSUB4S(b, a, 12); FMLA4S(12, 12, s)

#define ARGUMENTS \
	MOVD dst+0(FP), R0; \
	MOVD a+16(FP), R2; \
	MOVD b+32(FP), R4; \
	MOVD d+48(FP), R8

// The rows of b after the first.
#define BROWS \
	MOVD bStride+40(FP), R5; \
	LSL $2, R5, R9; \
	ADD R9, R4, R5; \
	ADD R9, R5, R6; \
	ADD R9, R6, R7

#define SECONDROWS \
	MOVD dstStride+8(FP), R1; \
	LSL $2, R1, R1; \
	MOVD aStride+24(FP), R3; \
	ADD R3<<2, R2, R3

// A loop over columns: eight at a time, then four, then one.
#define COLUMNS(EIGHT, FOUR, ONE) \
	SUBS $8, R8, R8; \
	BLT rest; \
eight: \
	EIGHT; \
	SUBS $8, R8, R8; \
	BGE eight; \
rest: \
	TBZ $2, R8, single; \
	FOUR; \
single: \
	ANDS $3, R8, R8; \
	BEQ done; \
one: \
	ONE; \
	SUBS $1, R8, R8; \
	BNE one; \
done:

#define EIGHT2x4(PAIR) \
	FLDPQ.P 32(R2), (F0, F1); \
	FLDPQ.P 32(R3), (F2, F3); \
	FLDPQ.P 32(R4), (F4, F5); \
	FLDPQ.P 32(R5), (F6, F7); \
	FLDPQ.P 32(R6), (F8, F9); \
	FLDPQ.P 32(R7), (F10, F11); \
	PAIR(0, 4, 16); \
	PAIR(2, 4, 24); \
	PAIR(0, 6, 18); \
	PAIR(2, 6, 26); \
	PAIR(0, 8, 20); \
	PAIR(2, 8, 28); \
	PAIR(0, 10, 22); \
	PAIR(2, 10, 30); \
	PAIR(1, 5, 17); \
	PAIR(3, 5, 25); \
	PAIR(1, 7, 19); \
	PAIR(3, 7, 27); \
	PAIR(1, 9, 21); \
	PAIR(3, 9, 29); \
	PAIR(1, 11, 23); \
	PAIR(3, 11, 31)

#define FEWER2x4(PAIR, LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R3), F2; \
	LOAD.P bytes(R4), F4; \
	LOAD.P bytes(R5), F6; \
	LOAD.P bytes(R6), F8; \
	LOAD.P bytes(R7), F10; \
	PAIR(0, 4, 16); \
	PAIR(2, 4, 24); \
	PAIR(0, 6, 18); \
	PAIR(2, 6, 26); \
	PAIR(0, 8, 20); \
	PAIR(2, 8, 28); \
	PAIR(0, 10, 22); \
	PAIR(2, 10, 30)

#define CLEAR2x4 \
	CLEAR(V16); \
	CLEAR(V17); \
	CLEAR(V18); \
	CLEAR(V19); \
	CLEAR(V20); \
	CLEAR(V21); \
	CLEAR(V22); \
	CLEAR(V23); \
	CLEAR(V24); \
	CLEAR(V25); \
	CLEAR(V26); \
	CLEAR(V27); \
	CLEAR(V28); \
	CLEAR(V29); \
	CLEAR(V30); \
	CLEAR(V31)

#define EIGHT1x4(PAIR) \
	FLDPQ.P 32(R2), (F0, F1); \
	FLDPQ.P 32(R4), (F4, F5); \
	FLDPQ.P 32(R5), (F6, F7); \
	FLDPQ.P 32(R6), (F8, F9); \
	FLDPQ.P 32(R7), (F10, F11); \
	PAIR(0, 4, 16); \
	PAIR(0, 6, 18); \
	PAIR(0, 8, 20); \
	PAIR(0, 10, 22); \
	PAIR(1, 5, 17); \
	PAIR(1, 7, 19); \
	PAIR(1, 9, 21); \
	PAIR(1, 11, 23)

#define FEWER1x4(PAIR, LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R4), F4; \
	LOAD.P bytes(R5), F6; \
	LOAD.P bytes(R6), F8; \
	LOAD.P bytes(R7), F10; \
	PAIR(0, 4, 16); \
	PAIR(0, 6, 18); \
	PAIR(0, 8, 20); \
	PAIR(0, 10, 22)

#define CLEAR1x4 \
	CLEAR(V16); \
	CLEAR(V17); \
	CLEAR(V18); \
	CLEAR(V19); \
	CLEAR(V20); \
	CLEAR(V21); \
	CLEAR(V22); \
	CLEAR(V23)

#define EIGHT1x1(PAIR) \
	FLDPQ.P 32(R2), (F0, F1); \
	FLDPQ.P 32(R4), (F4, F5); \
	PAIR(0, 4, 16); \
	PAIR(1, 5, 17)

#define FEWER1x1(PAIR, LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R4), F4; \
	PAIR(0, 4, 16)

#define CLEAR1x1 \
	CLEAR(V16); \
	CLEAR(V17)

// Lanes are added as ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)).
#define SUM4(s, dst) \
	FADD4S(s+1, s, s); \
	FADD4S(s+3, s+2, s+2); \
	FADD4S(s+5, s+4, s+4); \
	FADD4S(s+7, s+6, s+6); \
	FADDP4S(s+2, s, s); \
	FADDP4S(s+6, s+4, s+4); \
	FADDP4S(s+4, s, dst)

#define SUM1 \
	FADD4S(17, 16, 16); \
	FADDP4S(16, 16, 16); \
	FADDP4S(16, 16, 0)

// func dot2x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·dot2x4F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	BROWS
	SECONDROWS
	CLEAR2x4
	COLUMNS(EIGHT2x4(DOT), FEWER2x4(DOT, FMOVQ, 16), FEWER2x4(DOT, FMOVS, 4))
	SUM4(16, 0)
	FMOVQ F0, (R0)
	SUM4(24, 0)
	ADD R1, R0, R0
	FMOVQ F0, (R0)
	RET

// func sqDist2x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·sqDist2x4F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	BROWS
	SECONDROWS
	CLEAR2x4
	COLUMNS(EIGHT2x4(SQDIST), FEWER2x4(SQDIST, FMOVQ, 16), FEWER2x4(SQDIST, FMOVS, 4))
	SUM4(16, 0)
	FMOVQ F0, (R0)
	SUM4(24, 0)
	ADD R1, R0, R0
	FMOVQ F0, (R0)
	RET

// func dot1x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·dot1x4F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	BROWS
	CLEAR1x4
	COLUMNS(EIGHT1x4(DOT), FEWER1x4(DOT, FMOVQ, 16), FEWER1x4(DOT, FMOVS, 4))
	SUM4(16, 0)
	FMOVQ F0, (R0)
	RET

// func sqDist1x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·sqDist1x4F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	BROWS
	CLEAR1x4
	COLUMNS(EIGHT1x4(SQDIST), FEWER1x4(SQDIST, FMOVQ, 16), FEWER1x4(SQDIST, FMOVS, 4))
	SUM4(16, 0)
	FMOVQ F0, (R0)
	RET

// func dot1x1F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·dot1x1F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	CLEAR1x1
	COLUMNS(EIGHT1x1(DOT), FEWER1x1(DOT, FMOVQ, 16), FEWER1x1(DOT, FMOVS, 4))
	SUM1
	FMOVS F0, (R0)
	RET

// func sqDist1x1F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·sqDist1x1F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	CLEAR1x1
	COLUMNS(EIGHT1x1(SQDIST), FEWER1x1(SQDIST, FMOVQ, 16), FEWER1x1(SQDIST, FMOVS, 4))
	SUM1
	FMOVS F0, (R0)
	RET
