//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

// R0 dst, R1 its stride in bytes, R2 and R3 rows of a, R4-R7 rows of b, R8
// columns left. V0-V3 are of a, V4-V11 of b; V16-V31 are the sums of pairs, two
// vectors each: columns 0-3 and 4-7 of eight. Columns that fill no vector are
// added to the first lane, so that a pair has the same bits in every tile.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

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

#define EIGHT2x4 \
	FLDPQ.P 32(R2), (F0, F1); \
	FLDPQ.P 32(R3), (F2, F3); \
	FLDPQ.P 32(R4), (F4, F5); \
	FLDPQ.P 32(R5), (F6, F7); \
	FLDPQ.P 32(R6), (F8, F9); \
	FLDPQ.P 32(R7), (F10, F11); \
	FMLA4S(4, 0, 16); \
	FMLA4S(4, 2, 24); \
	FMLA4S(6, 0, 18); \
	FMLA4S(6, 2, 26); \
	FMLA4S(8, 0, 20); \
	FMLA4S(8, 2, 28); \
	FMLA4S(10, 0, 22); \
	FMLA4S(10, 2, 30); \
	FMLA4S(5, 1, 17); \
	FMLA4S(5, 3, 25); \
	FMLA4S(7, 1, 19); \
	FMLA4S(7, 3, 27); \
	FMLA4S(9, 1, 21); \
	FMLA4S(9, 3, 29); \
	FMLA4S(11, 1, 23); \
	FMLA4S(11, 3, 31)

#define FEWER2x4(LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R3), F2; \
	LOAD.P bytes(R4), F4; \
	LOAD.P bytes(R5), F6; \
	LOAD.P bytes(R6), F8; \
	LOAD.P bytes(R7), F10; \
	FMLA4S(4, 0, 16); \
	FMLA4S(4, 2, 24); \
	FMLA4S(6, 0, 18); \
	FMLA4S(6, 2, 26); \
	FMLA4S(8, 0, 20); \
	FMLA4S(8, 2, 28); \
	FMLA4S(10, 0, 22); \
	FMLA4S(10, 2, 30)

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

#define EIGHT1x4 \
	FLDPQ.P 32(R2), (F0, F1); \
	FLDPQ.P 32(R4), (F4, F5); \
	FLDPQ.P 32(R5), (F6, F7); \
	FLDPQ.P 32(R6), (F8, F9); \
	FLDPQ.P 32(R7), (F10, F11); \
	FMLA4S(4, 0, 16); \
	FMLA4S(6, 0, 18); \
	FMLA4S(8, 0, 20); \
	FMLA4S(10, 0, 22); \
	FMLA4S(5, 1, 17); \
	FMLA4S(7, 1, 19); \
	FMLA4S(9, 1, 21); \
	FMLA4S(11, 1, 23)

#define FEWER1x4(LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R4), F4; \
	LOAD.P bytes(R5), F6; \
	LOAD.P bytes(R6), F8; \
	LOAD.P bytes(R7), F10; \
	FMLA4S(4, 0, 16); \
	FMLA4S(6, 0, 18); \
	FMLA4S(8, 0, 20); \
	FMLA4S(10, 0, 22)

#define CLEAR1x4 \
	CLEAR(V16); \
	CLEAR(V17); \
	CLEAR(V18); \
	CLEAR(V19); \
	CLEAR(V20); \
	CLEAR(V21); \
	CLEAR(V22); \
	CLEAR(V23)

#define EIGHT1x1 \
	FLDPQ.P 32(R2), (F0, F1); \
	FLDPQ.P 32(R4), (F4, F5); \
	FMLA4S(4, 0, 16); \
	FMLA4S(5, 1, 17)

#define FEWER1x1(LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R4), F4; \
	FMLA4S(4, 0, 16)

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
TEXT ·Dot2x4F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	BROWS
	SECONDROWS
	CLEAR2x4
	COLUMNS(EIGHT2x4, FEWER2x4(FMOVQ, 16), FEWER2x4(FMOVS, 4))
	SUM4(16, 0)
	FMOVQ F0, (R0)
	SUM4(24, 0)
	ADD R1, R0, R0
	FMOVQ F0, (R0)
	RET

// func dot1x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·Dot1x4F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	BROWS
	CLEAR1x4
	COLUMNS(EIGHT1x4, FEWER1x4(FMOVQ, 16), FEWER1x4(FMOVS, 4))
	SUM4(16, 0)
	FMOVQ F0, (R0)
	RET

// func dot1x1F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
TEXT ·Dot1x1F32NEON(SB), NOSPLIT, $0-56
	ARGUMENTS
	CLEAR1x1
	COLUMNS(EIGHT1x1, FEWER1x1(FMOVQ, 16), FEWER1x1(FMOVS, 4))
	SUM1
	FMOVS F0, (R0)
	RET
