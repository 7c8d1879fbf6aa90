//go:build gc && !noasm && !purego

#include "textflag.h"
#include "neon_arm64.h"

// R0 dst, R1 x or d2, R2 numbers left, R3 the constants. V16-V28 are the
// constants, V29 is gamma. V0 and V1 are numbers, then powers of two, V2 and V3
// remainders, V4 and V5 polynomials.

#define CONSTANTS \
	VLD1R.P (R3), [V16.D2]; \
	VLD1R.P (R3), [V17.D2]; \
	VLD1R.P (R3), [V18.D2]; \
	VLD1R.P (R3), [V19.D2]; \
	VLD1R.P (R3), [V20.D2]; \
	VLD1R.P (R3), [V21.D2]; \
	VLD1R.P (R3), [V22.D2]; \
	VLD1R.P (R3), [V23.D2]; \
	VLD1R.P (R3), [V24.D2]; \
	VLD1R.P (R3), [V25.D2]; \
	VLD1R.P (R3), [V26.D2]; \
	VLD1R.P (R3), [V27.D2]; \
	VLD1R (R3), [V28.D2]

// The steps of expNegGo on V0, to V4: clamp, t, r, 2^-n from the low bits of t,
// the polynomial from its highest term on, and the product. FMIN and FMAX keep NaN.
#define EXP2 \
	FMIN2D(16, 0, 0); \
	FMAX2D(17, 0, 0); \
	FMUL2D(18, 0, 4); \
	FADD2D(19, 4, 4); \
	FSUB2D(19, 4, 2); \
	FMUL2D(20, 2, 2); \
	FSUB2D(2, 0, 2); \
	VSUB V4.D2, V28.D2, V0.D2; \
	VSHL $52, V0.D2, V0.D2; \
	FMUL2D(2, 21, 4); \
	FADD2D(22, 4, 4); \
	FMUL2D(2, 4, 4); \
	FADD2D(23, 4, 4); \
	FMUL2D(2, 4, 4); \
	FADD2D(24, 4, 4); \
	FMUL2D(2, 4, 4); \
	FADD2D(25, 4, 4); \
	FMUL2D(2, 4, 4); \
	FADD2D(26, 4, 4); \
	FMUL2D(2, 4, 4); \
	FADD2D(27, 4, 4); \
	FMUL2D(0, 4, 4)

// The same on V0 and V1, to V4 and V5, in step.
#define EXP4 \
	FMIN2D(16, 0, 0); \
	FMIN2D(16, 1, 1); \
	FMAX2D(17, 0, 0); \
	FMAX2D(17, 1, 1); \
	FMUL2D(18, 0, 4); \
	FMUL2D(18, 1, 5); \
	FADD2D(19, 4, 4); \
	FADD2D(19, 5, 5); \
	FSUB2D(19, 4, 2); \
	FSUB2D(19, 5, 3); \
	FMUL2D(20, 2, 2); \
	FMUL2D(20, 3, 3); \
	FSUB2D(2, 0, 2); \
	FSUB2D(3, 1, 3); \
	VSUB V4.D2, V28.D2, V0.D2; \
	VSUB V5.D2, V28.D2, V1.D2; \
	VSHL $52, V0.D2, V0.D2; \
	VSHL $52, V1.D2, V1.D2; \
	FMUL2D(2, 21, 4); \
	FMUL2D(3, 21, 5); \
	FADD2D(22, 4, 4); \
	FADD2D(22, 5, 5); \
	FMUL2D(2, 4, 4); \
	FMUL2D(3, 5, 5); \
	FADD2D(23, 4, 4); \
	FADD2D(23, 5, 5); \
	FMUL2D(2, 4, 4); \
	FMUL2D(3, 5, 5); \
	FADD2D(24, 4, 4); \
	FADD2D(24, 5, 5); \
	FMUL2D(2, 4, 4); \
	FMUL2D(3, 5, 5); \
	FADD2D(25, 4, 4); \
	FADD2D(25, 5, 5); \
	FMUL2D(2, 4, 4); \
	FMUL2D(3, 5, 5); \
	FADD2D(26, 4, 4); \
	FADD2D(26, 5, 5); \
	FMUL2D(2, 4, 4); \
	FMUL2D(3, 5, 5); \
	FADD2D(27, 4, 4); \
	FADD2D(27, 5, 5); \
	FMUL2D(0, 4, 4); \
	FMUL2D(1, 5, 5)

// A loop over numbers, four at a time, then one.
#define NUMBERS(FOUR, ONE) \
	SUBS $4, R2, R2; \
	BLT rest; \
four: \
	FOUR; \
	EXP4; \
	FCVTN(4, 6); \
	FCVTN2(5, 6); \
	FMOVQ.P F6, 16(R0); \
	SUBS $4, R2, R2; \
	BGE four; \
rest: \
	ANDS $3, R2, R2; \
	BEQ done; \
one: \
	ONE; \
	EXP2; \
	FCVTN(4, 6); \
	FMOVS.P F6, 4(R0); \
	SUBS $1, R2, R2; \
	BNE one; \
done: \
	RET

#define FOURNUMBERS \
	FMOVQ.P 16(R1), F6; \
	FCVTL(6, 0); \
	FCVTL2(6, 1)

#define ONENUMBER \
	FMOVS.P 4(R1), F6; \
	FCVTL(6, 0)

#define FOURDISTANCES \
	FLDPQ.P 32(R1), (F0, F1); \
	FMUL2D(29, 0, 0); \
	FMUL2D(29, 1, 1)

#define ONEDISTANCE \
	FMOVD.P 8(R1), F0; \
	FMUL2D(29, 0, 0)

// func expNegF32NEON(dst, x *float32, n uintptr, constants *[13]float64)
TEXT ·ExpNegF32NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	MOVD constants+24(FP), R3
	CONSTANTS
	NUMBERS(FOURNUMBERS, ONENUMBER)

// func weightsF32NEON(dst *float32, d2 *float64, n uintptr, gamma float64, constants *[13]float64)
TEXT ·WeightsF32NEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD d2+8(FP), R1
	MOVD n+16(FP), R2
	MOVD gamma+24(FP), R4
	MOVD constants+32(FP), R3
	VDUP R4, V29.D2
	CONSTANTS
	NUMBERS(FOURDISTANCES, ONEDISTANCE)
