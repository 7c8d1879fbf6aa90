// Vector instructions as words, because the assembler of Go 1.26 has no names for
// them; it has one for fmla, but registers are numbers here so that macros can
// count them. Operands are in the assembler's order, the destination last. The
// comments have Arm's mnemonics.

// fadd vd.4s, vn.4s, vm.4s
#define FADD4S(m, n, d) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
// faddp vd.4s, vn.4s, vm.4s
#define FADDP4S(m, n, d) WORD $(0x6e20d400 | (m)<<16 | (n)<<5 | (d))
// fmla vd.4s, vn.4s, vm.4s
#define FMLA4S(m, n, d) WORD $(0x4e20cc00 | (m)<<16 | (n)<<5 | (d))
// fadd vd.2s, vn.2s, vm.2s
#define FADD2S(m, n, d) WORD $(0x0e20d400 | (m)<<16 | (n)<<5 | (d))

// fmul vd.4s, vn.4s, vm.s[i]
#define FMUL4SBY(i, m, n, d) WORD $(0x4f809000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
// fmul vd.2s, vn.2s, vm.s[i]
#define FMUL2SBY(i, m, n, d) WORD $(0x0f809000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))

// fcvtl vd.2d, vn.2s
#define FCVTL(n, d) WORD $(0x0e617800 | (n)<<5 | (d))
// fcvtl2 vd.2d, vn.4s
#define FCVTL2(n, d) WORD $(0x4e617800 | (n)<<5 | (d))
// fcvtn vd.2s, vn.2d
#define FCVTN(n, d) WORD $(0x0e616800 | (n)<<5 | (d))
// fcvtn2 vd.4s, vn.2d
#define FCVTN2(n, d) WORD $(0x4e616800 | (n)<<5 | (d))

// fmul vd.2d, vn.2d, vm.2d
#define FMUL2D(m, n, d) WORD $(0x6e60dc00 | (m)<<16 | (n)<<5 | (d))
// fadd vd.2d, vn.2d, vm.2d
#define FADD2D(m, n, d) WORD $(0x4e60d400 | (m)<<16 | (n)<<5 | (d))
// fsub vd.2d, vn.2d, vm.2d
#define FSUB2D(m, n, d) WORD $(0x4ee0d400 | (m)<<16 | (n)<<5 | (d))
// fmax vd.2d, vn.2d, vm.2d
#define FMAX2D(m, n, d) WORD $(0x4e60f400 | (m)<<16 | (n)<<5 | (d))
// fmin vd.2d, vn.2d, vm.2d
#define FMIN2D(m, n, d) WORD $(0x4ee0f400 | (m)<<16 | (n)<<5 | (d))

// mla vd.4s, vn.4s, vm.4s
#define MLA4S(m, n, d) WORD $(0x4ea09400 | (m)<<16 | (n)<<5 | (d))
// add vd.4s, vn.4s, vm.4s
#define ADD4S(m, n, d) WORD $(0x4ea08400 | (m)<<16 | (n)<<5 | (d))
// addp vd.4s, vn.4s, vm.4s
#define ADDP4S(m, n, d) WORD $(0x4ea0bc00 | (m)<<16 | (n)<<5 | (d))
// ushl vd.4s, vn.4s, vm.4s
#define USHL4S(m, n, d) WORD $(0x6ea04400 | (m)<<16 | (n)<<5 | (d))
// sdot vd.4s, vn.16b, vm.4b[i]
#define SDOT4SBY(i, m, n, d) WORD $(0x4f80e000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
