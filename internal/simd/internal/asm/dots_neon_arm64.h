// The code shared by products of rows of float32 numbers and of rows of words. Before this file
// is included, define: MULADD(m, n, d) adds the products of two vectors to a third, ADDLANES(m,
// n, d) adds vectors, and ADDPAIRS(m, n, d) adds neighbouring lanes of two.
//
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
	MULADD(4, 0, 16); \
	MULADD(4, 2, 24); \
	MULADD(6, 0, 18); \
	MULADD(6, 2, 26); \
	MULADD(8, 0, 20); \
	MULADD(8, 2, 28); \
	MULADD(10, 0, 22); \
	MULADD(10, 2, 30); \
	MULADD(5, 1, 17); \
	MULADD(5, 3, 25); \
	MULADD(7, 1, 19); \
	MULADD(7, 3, 27); \
	MULADD(9, 1, 21); \
	MULADD(9, 3, 29); \
	MULADD(11, 1, 23); \
	MULADD(11, 3, 31)

#define FEWER2x4(LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R3), F2; \
	LOAD.P bytes(R4), F4; \
	LOAD.P bytes(R5), F6; \
	LOAD.P bytes(R6), F8; \
	LOAD.P bytes(R7), F10; \
	MULADD(4, 0, 16); \
	MULADD(4, 2, 24); \
	MULADD(6, 0, 18); \
	MULADD(6, 2, 26); \
	MULADD(8, 0, 20); \
	MULADD(8, 2, 28); \
	MULADD(10, 0, 22); \
	MULADD(10, 2, 30)

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
	MULADD(4, 0, 16); \
	MULADD(6, 0, 18); \
	MULADD(8, 0, 20); \
	MULADD(10, 0, 22); \
	MULADD(5, 1, 17); \
	MULADD(7, 1, 19); \
	MULADD(9, 1, 21); \
	MULADD(11, 1, 23)

#define FEWER1x4(LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R4), F4; \
	LOAD.P bytes(R5), F6; \
	LOAD.P bytes(R6), F8; \
	LOAD.P bytes(R7), F10; \
	MULADD(4, 0, 16); \
	MULADD(6, 0, 18); \
	MULADD(8, 0, 20); \
	MULADD(10, 0, 22)

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
	MULADD(4, 0, 16); \
	MULADD(5, 1, 17)

#define FEWER1x1(LOAD, bytes) \
	LOAD.P bytes(R2), F0; \
	LOAD.P bytes(R4), F4; \
	MULADD(4, 0, 16)

#define CLEAR1x1 \
	CLEAR(V16); \
	CLEAR(V17)

// Lanes are added as ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)).
#define SUM4(s, dst) \
	ADDLANES(s+1, s, s); \
	ADDLANES(s+3, s+2, s+2); \
	ADDLANES(s+5, s+4, s+4); \
	ADDLANES(s+7, s+6, s+6); \
	ADDPAIRS(s+2, s, s); \
	ADDPAIRS(s+6, s+4, s+4); \
	ADDPAIRS(s+4, s, dst)

#define SUM1 \
	ADDLANES(17, 16, 16); \
	ADDPAIRS(16, 16, 16); \
	ADDPAIRS(16, 16, 0)


#define TILE2x4 \
	ARGUMENTS; \
	BROWS; \
	SECONDROWS; \
	CLEAR2x4; \
	COLUMNS(EIGHT2x4, FEWER2x4(FMOVQ, 16), FEWER2x4(FMOVS, 4)) \
	SUM4(16, 0); \
	FMOVQ F0, (R0); \
	SUM4(24, 0); \
	ADD R1, R0, R0; \
	FMOVQ F0, (R0)

#define TILE1x4 \
	ARGUMENTS; \
	BROWS; \
	CLEAR1x4; \
	COLUMNS(EIGHT1x4, FEWER1x4(FMOVQ, 16), FEWER1x4(FMOVS, 4)) \
	SUM4(16, 0); \
	FMOVQ F0, (R0)

#define TILE1x1 \
	ARGUMENTS; \
	CLEAR1x1; \
	COLUMNS(EIGHT1x1, FEWER1x1(FMOVQ, 16), FEWER1x1(FMOVS, 4)) \
	SUM1; \
	FMOVS F0, (R0)
