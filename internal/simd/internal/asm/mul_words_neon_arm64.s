//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

// R0 sums, R1 their stride in bytes, R2 the panel, R4 places left, R5 packed, R6 the table of
// pieces, R7 the lines to prefetch. V0-V3 are 16 places of the pieces, V4-V7 and V8-V11 lines
// of the panel, with four rows in a vector; V16-V31 are the sums, four vectors for a piece.

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

#define ARGUMENTS \
	MOVD sums+0(FP), R0; \
	MOVD stride+8(FP), R1; \
	LSL $2, R1, R1; \
	MOVD panel+16(FP), R2; \
	MOVD depth+32(FP), R4; \
	MOVD packed+40(FP), R5; \
	MOVD pieces+48(FP), R6; \
	MOVD ahead+56(FP), R7

#define CLEAR2 \
	CLEAR(V16); \
	CLEAR(V17); \
	CLEAR(V18); \
	CLEAR(V19); \
	CLEAR(V20); \
	CLEAR(V21); \
	CLEAR(V22); \
	CLEAR(V23)

#define CLEAR4 \
	CLEAR2; \
	CLEAR(V24); \
	CLEAR(V25); \
	CLEAR(V26); \
	CLEAR(V27); \
	CLEAR(V28); \
	CLEAR(V29); \
	CLEAR(V30); \
	CLEAR(V31)

// The products of places 4*i to 4*i+3 of a piece with a line that begins in a register.
#define PRODUCTS(i, piece, line) \
	SDOT4SBY(i, piece, line, 16+4*(piece)); \
	SDOT4SBY(i, piece, line+1, 17+4*(piece)); \
	SDOT4SBY(i, piece, line+2, 18+4*(piece)); \
	SDOT4SBY(i, piece, line+3, 19+4*(piece))

#define PRODUCTS2(i, line) \
	PRODUCTS(i, 0, line); \
	PRODUCTS(i, 1, line)

#define PRODUCTS4(i, line) \
	PRODUCTS2(i, line); \
	PRODUCTS(i, 2, line); \
	PRODUCTS(i, 3, line)

// Four lines, which are 16 places.
#define LINES(PIECES) \
	PRFM (R7), PLDL1KEEP; \
	PRFM 64(R7), PLDL1KEEP; \
	PRFM 128(R7), PLDL1KEEP; \
	PRFM 192(R7), PLDL1KEEP; \
	ADD $256, R7, R7; \
	VLD1.P 64(R2), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	VLD1.P 64(R2), [V8.B16, V9.B16, V10.B16, V11.B16]; \
	PIECES(0, 4); \
	VLD1.P 64(R2), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	PIECES(1, 8); \
	VLD1.P 64(R2), [V8.B16, V9.B16, V10.B16, V11.B16]; \
	PIECES(2, 4); \
	PIECES(3, 8); \
	SUBS $16, R4, R4

// Shifts the sums of a piece to its place in the word and adds them to those in memory.
#define ADDSUMS(piece) \
	MOVWU.P 4(R6), R8; \
	MOVWU.P 4(R6), R9; \
	MADD R1, R0, R8, R8; \
	VDUP R9, V12.S4; \
	VLD1 (R8), [V4.S4, V5.S4, V6.S4, V7.S4]; \
	USHL4S(12, 16+4*(piece), 8); \
	USHL4S(12, 17+4*(piece), 9); \
	USHL4S(12, 18+4*(piece), 10); \
	USHL4S(12, 19+4*(piece), 11); \
	ADD4S(8, 4, 4); \
	ADD4S(9, 5, 5); \
	ADD4S(10, 6, 6); \
	ADD4S(11, 7, 7); \
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R8)

// func MulWords1x2NEON(sums *uint32, stride uintptr, panel *int8, group, depth uintptr, packed *uint32, pieces *[2]uint32, ahead *int8)
TEXT ·MulWords1x2NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	CLEAR2
places:
	VLD1.P 32(R5), [V0.B16, V1.B16]
	LINES(PRODUCTS2)
	BNE places
	ADDSUMS(0)
	ADDSUMS(1)
	RET

// func MulWords1x4NEON(sums *uint32, stride uintptr, panel *int8, group, depth uintptr, packed *uint32, pieces *[2]uint32, ahead *int8)
TEXT ·MulWords1x4NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	CLEAR4
places:
	VLD1.P 64(R5), [V0.B16, V1.B16, V2.B16, V3.B16]
	LINES(PRODUCTS4)
	BNE places
	ADDSUMS(0)
	ADDSUMS(1)
	ADDSUMS(2)
	ADDSUMS(3)
	RET
