//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

// R0 dst, R1 its stride in bytes, R2 ptr, R3 rows, R4 ind, R5 val, R6 x, R7 its
// stride in bytes, R8 the row pointer at hand, R9 entries of the row, R10-R13
// rows of x, R14 a counter. V16-V31 are the sums, V8 the values of entries.

#define ARGUMENTS \
	MOVD dst+0(FP), R0; \
	MOVD dstStride+8(FP), R1; \
	MOVD ptr+16(FP), R2; \
	MOVD rows+24(FP), R3; \
	MOVD ind+32(FP), R4; \
	MOVD val+40(FP), R5; \
	MOVD x+48(FP), R6; \
	MOVD stride+56(FP), R7; \
	LSL $2, R1, R1; \
	LSL $2, R7, R7; \
	MOVD.P 8(R2), R8; \
	ADD R8<<2, R4, R4; \
	ADD R8<<2, R5, R5

// Entries of the next row to R9, groups of four to R14.
#define NEXTROW \
	MOVD.P 8(R2), R10; \
	SUB R8, R10, R9; \
	MOVD R10, R8; \
	LSR $2, R9, R14; \
	AND $3, R9, R9

// The columns of four entries to rows of x, their values to V8.
#define FOURENTRIES \
	LDPW 8(R4), (R12, R13); \
	LDPW.P 16(R4), (R10, R11); \
	FMOVQ.P 16(R5), F8; \
	MADD R7, R6, R10, R10; \
	MADD R7, R6, R11, R11; \
	MADD R7, R6, R12, R12; \
	MADD R7, R6, R13, R13

// One entry of the last, short group.
#define ONEENTRY \
	MOVWU.P 4(R4), R10; \
	FMOVS.P 4(R5), F8; \
	MADD R7, R6, R10, R10

// Two columns in one vector, whose second lane is idle where LOAD fills the
// first alone.
#define FOURS2(LOAD) \
	LOAD (R10), F0; \
	LOAD (R11), F1; \
	LOAD (R12), F2; \
	LOAD (R13), F3; \
	FMUL2SBY(0, 8, 0, 0); \
	FMUL2SBY(1, 8, 1, 1); \
	FMUL2SBY(2, 8, 2, 2); \
	FMUL2SBY(3, 8, 3, 3); \
	FADD2S(1, 0, 0); \
	FADD2S(3, 2, 2); \
	FADD2S(2, 0, 0); \
	FCVTL(0, 4); \
	FADD2D(4, 16, 16)

#define FOURS4 \
	FMOVQ (R10), F0; \
	FMOVQ (R11), F1; \
	FMOVQ (R12), F2; \
	FMOVQ (R13), F3; \
	FMUL4SBY(0, 8, 0, 0); \
	FMUL4SBY(1, 8, 1, 1); \
	FMUL4SBY(2, 8, 2, 2); \
	FMUL4SBY(3, 8, 3, 3); \
	FADD4S(1, 0, 0); \
	FADD4S(3, 2, 2); \
	FADD4S(2, 0, 0); \
	FCVTL(0, 4); \
	FCVTL2(0, 5); \
	FADD2D(4, 16, 16); \
	FADD2D(5, 17, 17)

// Eight columns, at off in the rows of x, with their sums from register s on.
#define FOURS8(off, s) \
	FLDPQ off(R10), (F0, F1); \
	FLDPQ off(R11), (F2, F3); \
	FLDPQ off(R12), (F4, F5); \
	FLDPQ off(R13), (F6, F7); \
	FMUL4SBY(0, 8, 0, 0); \
	FMUL4SBY(0, 8, 1, 1); \
	FMUL4SBY(1, 8, 2, 2); \
	FMUL4SBY(1, 8, 3, 3); \
	FMUL4SBY(2, 8, 4, 4); \
	FMUL4SBY(2, 8, 5, 5); \
	FMUL4SBY(3, 8, 6, 6); \
	FMUL4SBY(3, 8, 7, 7); \
	FADD4S(2, 0, 0); \
	FADD4S(3, 1, 1); \
	FADD4S(6, 4, 4); \
	FADD4S(7, 5, 5); \
	FADD4S(4, 0, 0); \
	FADD4S(5, 1, 1); \
	FCVTL(0, 2); \
	FCVTL2(0, 3); \
	FCVTL(1, 4); \
	FCVTL2(1, 5); \
	FADD2D(2, s, s); \
	FADD2D(3, s+1, s+1); \
	FADD2D(4, s+2, s+2); \
	FADD2D(5, s+3, s+3)

// The products of one entry, added to the short group from register g on.
#define ONE8(off, g) \
	FLDPQ off(R10), (F9, F10); \
	FMUL4SBY(0, 8, 9, 9); \
	FMUL4SBY(0, 8, 10, 10); \
	FADD4S(9, g, g); \
	FADD4S(10, g+1, g+1)

// The short group to the sums.
#define GROUP8(g, s) \
	FCVTL(g, 9); \
	FCVTL2(g, 10); \
	FCVTL(g+1, 11); \
	FCVTL2(g+1, 12); \
	FADD2D(9, s, s); \
	FADD2D(10, s+1, s+1); \
	FADD2D(11, s+2, s+2); \
	FADD2D(12, s+3, s+3)

#define STORE8(off, s) \
	FCVTN(s, 0); \
	FCVTN2(s+1, 0); \
	FCVTN(s+2, 1); \
	FCVTN2(s+3, 1); \
	FSTPQ (F0, F1), off(R0)

// A loop over rows: FOURS for each group of four entries, ONE for each entry of
// a short group, GROUP after it, STORE at the end of a row.
#define ROWS(CLEARSUMS, FOURS, CLEARGROUP, ONE, GROUP, STORE) \
row: \
	NEXTROW; \
	CLEARSUMS; \
	CBZ R14, short; \
four: \
	FOURENTRIES; \
	FOURS; \
	SUB $1, R14, R14; \
	CBNZ R14, four; \
short: \
	CBZ R9, store; \
	CLEARGROUP; \
one: \
	ONEENTRY; \
	ONE; \
	SUB $1, R9, R9; \
	CBNZ R9, one; \
	GROUP; \
store: \
	STORE; \
	ADD R1, R0, R0; \
	SUB $1, R3, R3; \
	CBNZ R3, row; \
	RET

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

#define ONE1 \
	FMOVS (R10), F9; \
	FMUL2SBY(0, 8, 9, 9); \
	FADD2S(9, 0, 0)

#define STORE1 \
	FCVTN(16, 0); \
	FMOVS F0, (R0)

#define ONE2 \
	FMOVD (R10), F9; \
	FMUL2SBY(0, 8, 9, 9); \
	FADD2S(9, 0, 0)

#define STORE2 \
	FCVTN(16, 0); \
	FMOVD F0, (R0)

#define GROUP2 \
	FCVTL(0, 9); \
	FADD2D(9, 16, 16)

#define ONE4 \
	FMOVQ (R10), F9; \
	FMUL4SBY(0, 8, 9, 9); \
	FADD4S(9, 0, 0)

#define GROUP4 \
	FCVTL(0, 9); \
	FCVTL2(0, 10); \
	FADD2D(9, 16, 16); \
	FADD2D(10, 17, 17)

#define STORE4 \
	FCVTN(16, 0); \
	FCVTN2(17, 0); \
	FMOVQ F0, (R0)

#define CLEARSUMS4 \
	CLEAR(V16); \
	CLEAR(V17)

#define CLEARSUMS8 \
	CLEAR(V16); \
	CLEAR(V17); \
	CLEAR(V18); \
	CLEAR(V19)

#define CLEARSUMS16 \
	CLEARSUMS8; \
	CLEAR(V20); \
	CLEAR(V21); \
	CLEAR(V22); \
	CLEAR(V23)

#define CLEARSUMS32 \
	CLEARSUMS16; \
	CLEAR(V24); \
	CLEAR(V25); \
	CLEAR(V26); \
	CLEAR(V27); \
	CLEAR(V28); \
	CLEAR(V29); \
	CLEAR(V30); \
	CLEAR(V31)

#define CLEARGROUP8 \
	CLEAR(V0); \
	CLEAR(V1)

#define CLEARGROUP16 \
	CLEARGROUP8; \
	CLEAR(V2); \
	CLEAR(V3)

#define CLEARGROUP32 \
	CLEARGROUP16; \
	CLEAR(V4); \
	CLEAR(V5); \
	CLEAR(V6); \
	CLEAR(V7)

#define FOURS16 \
	FOURS8(0, 16); \
	FOURS8(32, 20)

#define ONE16 \
	ONE8(0, 0); \
	ONE8(32, 2)

#define GROUP16 \
	GROUP8(0, 16); \
	GROUP8(2, 20)

#define STORE16 \
	STORE8(0, 16); \
	STORE8(32, 20)

#define FOURS32 \
	FOURS8(0, 16); \
	FOURS8(32, 20); \
	FOURS8(64, 24); \
	FOURS8(96, 28)

#define ONE32 \
	ONE8(0, 0); \
	ONE8(32, 2); \
	ONE8(64, 4); \
	ONE8(96, 6)

#define GROUP32 \
	GROUP8(0, 16); \
	GROUP8(2, 20); \
	GROUP8(4, 24); \
	GROUP8(6, 28)

#define STORE32 \
	STORE8(0, 16); \
	STORE8(32, 20); \
	STORE8(64, 24); \
	STORE8(96, 28)

// func spmmFours1F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse1F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEAR(V16), FOURS2(FMOVS), CLEAR(V0), ONE1, GROUP2, STORE1)

// func spmmFours2F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse2F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEAR(V16), FOURS2(FMOVD), CLEAR(V0), ONE2, GROUP2, STORE2)

// func spmmFours4F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse4F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS4, FOURS4, CLEAR(V0), ONE4, GROUP4, STORE4)

// func spmmFours8F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse8F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS8, FOURS8(0, 16), CLEARGROUP8, ONE8(0, 0), GROUP8(0, 16), STORE8(0, 16))

// func spmmFours16F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse16F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS16, FOURS16, CLEARGROUP16, ONE16, GROUP16, STORE16)

// func spmmFours32F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse32F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS32, FOURS32, CLEARGROUP32, ONE32, GROUP32, STORE32)
