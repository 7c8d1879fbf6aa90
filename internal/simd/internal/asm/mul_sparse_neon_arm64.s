//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

// R0 dst, R1 its stride in bytes, R2 ptr, R3 rows, R4 ind, R5 val, R6 x, R7 its
// stride in bytes, R8 the row pointer at hand, R9 entries of the last, short four,
// R10-R13 rows of x, R14 fours left in the row, R15 in the block. V8 has the values of
// entries, V16-V23 the sums of the row, V24-V27 the even sums of the block, V28-V31 the
// odd ones.

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

// One entry of the last, short four.
#define ONEENTRY \
	MOVWU.P 4(R4), R10; \
	FMOVS.P 4(R5), F8; \
	MADD R7, R6, R10, R10

// Two columns in one vector. The second lane is idle where LOAD fills only the first.
#define FOURS2(LOAD) \
	LOAD (R10), F0; \
	LOAD (R11), F1; \
	LOAD (R12), F2; \
	LOAD (R13), F3; \
	FMUL2SBY(0, 8, 0, 0); \
	FMUL2SBY(1, 8, 1, 1); \
	FMUL2SBY(2, 8, 2, 2); \
	FMUL2SBY(3, 8, 3, 3); \
	FADD2S(2, 0, 0); \
	FADD2S(3, 1, 1); \
	FADD2S(0, 24, 24); \
	FADD2S(1, 28, 28)

#define FOURS4 \
	FMOVQ (R10), F0; \
	FMOVQ (R11), F1; \
	FMOVQ (R12), F2; \
	FMOVQ (R13), F3; \
	FMUL4SBY(0, 8, 0, 0); \
	FMUL4SBY(1, 8, 1, 1); \
	FMUL4SBY(2, 8, 2, 2); \
	FMUL4SBY(3, 8, 3, 3); \
	FADD4S(2, 0, 0); \
	FADD4S(3, 1, 1); \
	FADD4S(0, 24, 24); \
	FADD4S(1, 28, 28)

// Eight columns, at off in the rows of x, with the sums of the block from registers
// e and o on.
#define FOURS8(off, e, o) \
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
	FADD4S(4, 0, 0); \
	FADD4S(5, 1, 1); \
	FADD4S(6, 2, 2); \
	FADD4S(7, 3, 3); \
	FADD4S(0, e, e); \
	FADD4S(1, e+1, e+1); \
	FADD4S(2, o, o); \
	FADD4S(3, o+1, o+1)

// The sums of the block to those of the row.
#define WIDEN8(e, o, s) \
	FADD4S(o, e, e); \
	FADD4S(o+1, e+1, e+1); \
	FCVTL(e, 9); \
	FCVTL2(e, 10); \
	FCVTL(e+1, 11); \
	FCVTL2(e+1, 12); \
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

// A loop over rows: FOURS for each four entries, WIDEN after each block of eight fours and
// after the last, STORE at the end of a row. For the entries of a short four there are
// ONE, which makes products from register r on, and SUM, which adds them to others.
#define ROWS(CLEARSUMS, CLEARBLOCK, FOURS, ONE, SUM, WIDEN, STORE) \
row: \
	NEXTROW; \
	CLEARSUMS; \
	CLEARBLOCK; \
	MOVD $8, R15; \
	CBZ R14, short; \
four: \
	FOURENTRIES; \
	FOURS; \
	SUB $1, R14, R14; \
	SUB $1, R15, R15; \
	CBNZ R15, on; \
	WIDEN; \
	CLEARBLOCK; \
	MOVD $8, R15; \
on: \
	CBNZ R14, four; \
short: \
	CBZ R9, widen; \
	ONEENTRY; \
	ONE(0); \
	SUB $1, R9, R9; \
	CBZ R9, last; \
	ONEENTRY; \
	ONE(4); \
	SUM(4, 28); \
	SUB $1, R9, R9; \
	CBZ R9, last; \
	ONEENTRY; \
	ONE(4); \
	SUM(4, 0); \
last: \
	SUM(0, 24); \
widen: \
	WIDEN; \
	STORE; \
	ADD R1, R0, R0; \
	SUB $1, R3, R3; \
	CBNZ R3, row; \
	RET

#define CLEAR(v) VEOR v.B16, v.B16, v.B16

#define ONE1(r) \
	FMOVS (R10), F9; \
	FMUL2SBY(0, 8, 9, r)

#define ONE2(r) \
	FMOVD (R10), F9; \
	FMUL2SBY(0, 8, 9, r)

#define ONE4(r) \
	FMOVQ (R10), F9; \
	FMUL4SBY(0, 8, 9, r)

#define ONE8(r) \
	FLDPQ (R10), (F9, F10); \
	FMUL4SBY(0, 8, 9, r); \
	FMUL4SBY(0, 8, 10, r+1)

#define ONE16(r) \
	ONE8(r); \
	FLDPQ 32(R10), (F9, F10); \
	FMUL4SBY(0, 8, 9, r+2); \
	FMUL4SBY(0, 8, 10, r+3)

#define SUM2(r, s) FADD2S(r, s, s)

#define SUM4(r, s) FADD4S(r, s, s)

#define SUM8(r, s) \
	FADD4S(r, s, s); \
	FADD4S(r+1, s+1, s+1)

#define SUM16(r, s) \
	SUM8(r, s); \
	SUM8(r+2, s+2)

#define WIDEN2 \
	FADD2S(28, 24, 24); \
	FCVTL(24, 9); \
	FADD2D(9, 16, 16)

#define WIDEN4 \
	FADD4S(28, 24, 24); \
	FCVTL(24, 9); \
	FCVTL2(24, 10); \
	FADD2D(9, 16, 16); \
	FADD2D(10, 17, 17)

#define STORE1 \
	FCVTN(16, 0); \
	FMOVS F0, (R0)

#define STORE2 \
	FCVTN(16, 0); \
	FMOVD F0, (R0)

#define STORE4 \
	FCVTN(16, 0); \
	FCVTN2(17, 0); \
	FMOVQ F0, (R0)

#define CLEARSUMS4 \
	CLEAR(V16); \
	CLEAR(V17)

#define CLEARSUMS8 \
	CLEARSUMS4; \
	CLEAR(V18); \
	CLEAR(V19)

#define CLEARSUMS16 \
	CLEARSUMS8; \
	CLEAR(V20); \
	CLEAR(V21); \
	CLEAR(V22); \
	CLEAR(V23)

#define CLEARBLOCK4 \
	CLEAR(V24); \
	CLEAR(V28)

#define CLEARBLOCK8 \
	CLEARBLOCK4; \
	CLEAR(V25); \
	CLEAR(V29)

#define CLEARBLOCK16 \
	CLEARBLOCK8; \
	CLEAR(V26); \
	CLEAR(V27); \
	CLEAR(V30); \
	CLEAR(V31)

#define FOURS16 \
	FOURS8(0, 24, 28); \
	FOURS8(32, 26, 30)

#define WIDEN16 \
	WIDEN8(24, 28, 16); \
	WIDEN8(26, 30, 20)

#define STORE16 \
	STORE8(0, 16); \
	STORE8(32, 20)

// func MulSparse1F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse1F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEAR(V16), CLEARBLOCK4, FOURS2(FMOVS), ONE1, SUM2, WIDEN2, STORE1)

// func MulSparse2F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse2F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEAR(V16), CLEARBLOCK4, FOURS2(FMOVD), ONE2, SUM2, WIDEN2, STORE2)

// func MulSparse4F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse4F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS4, CLEARBLOCK4, FOURS4, ONE4, SUM4, WIDEN4, STORE4)

// func MulSparse8F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse8F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS8, CLEARBLOCK8, FOURS8(0, 24, 28), ONE8, SUM8, WIDEN8(24, 28, 16), STORE8(0, 16))

// func MulSparse16F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)
TEXT ·MulSparse16F32NEON(SB), NOSPLIT, $0-64
	ARGUMENTS
	ROWS(CLEARSUMS16, CLEARBLOCK16, FOURS16, ONE16, SUM16, WIDEN16, STORE16)
