//go:build gc && !noasm && !purego

#include "textflag.h"

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-8
	MOVD g, R0
	MOVD R0, ret+0(FP)
	RET
