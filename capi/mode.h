/* mode.h: the floating-point mode of a thread: how the processor rounds, whether it treats very small numbers as 0,
 * which operations raise SIGFPE, and which exceptions have occurred. It belongs to the thread, and a new thread
 * inherits the mode of the one that creates it. The bits of results depend on it. So the library computes in one
 * mode, that of a new process: functions of pm.h set it and restore the caller's (shim.h), also for progress
 * functions, and threads of the library begin with it (threads.h). */
#ifndef PM_MODE_H
#define PM_MODE_H

#if defined(__x86_64__)

typedef unsigned int pmc_mode; /* MXCSR; Go uses no x87 */
#define PMC_MODE 0x1f80u       /* round to nearest, keep small numbers, no signals */

static inline pmc_mode pmc_get_mode(void) {
    pmc_mode mode;
    __asm__ volatile("stmxcsr %0" : "=m"(mode) : : "memory");
    return mode;
}

static inline void pmc_set_mode(pmc_mode mode) { __asm__ volatile("ldmxcsr %0" : : "m"(mode) : "memory"); }

#elif defined(__aarch64__)

typedef unsigned long pmc_mode; /* FPCR, and FPSR in the upper half */
#define PMC_MODE 0ul            /* the same */

static inline pmc_mode pmc_get_mode(void) {
    unsigned long control, status;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status) : : "memory");
    return control | status << 32;
}

static inline void pmc_set_mode(pmc_mode mode) {
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(mode & 0xfffffffful), "r"(mode >> 32) : "memory");
}

#else /* an untested processor: the mode is left alone */

typedef int pmc_mode;
#define PMC_MODE 0

static inline pmc_mode pmc_get_mode(void) { return PMC_MODE; }
static inline void pmc_set_mode(pmc_mode mode) { (void)mode; }

#endif

/* Sets the mode of the library and returns the one before. */
static inline pmc_mode pmc_begin_mode(void) {
    pmc_mode before = pmc_get_mode();
    pmc_set_mode(PMC_MODE);
    return before;
}

#endif
