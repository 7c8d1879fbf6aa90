/* shim.h: declarations shared by the C files and the Go files of the library. */
#ifndef PM_SHIM_H
#define PM_SHIM_H

#include "mode.h"
#include "pm.h"

/* 1 in a process that was forked after the library was loaded. A forked process has only the thread that called
 * fork, and the Go runtime would wait for the others for ever, so every function checks this first. */
extern int pmc_forked;

/* Sets the text of pm_last_error of this thread. */
void pmc_set_error(const char *text, size_t size);

/* The length of a text, at most most. */
size_t pmc_length(const char *text, size_t most);

/* The beginning of every function: the first for functions that work, the second for those that free a handle. The
 * function computes in the mode of the library, and its caller's mode is restored when it returns. */
#define PMC_ENTER() PMC_ENTER_OR(PM_FORKED)
#define PMC_ENTER_FREE() PMC_ENTER_OR(PM_OK)
#define PMC_ENTER_OR(forked) \
    if (pmc_forked) return (forked); \
    __attribute__((cleanup(pmc_end_mode))) pmc_mode pmc_callers_mode = pmc_begin_mode()

static inline void pmc_end_mode(pmc_mode *callers) { pmc_set_mode(*callers); }

/* A progress function that runs: the engine whose work it reports, 0 for none, and the progress function
 * that called the function, NULL for none. */
typedef struct pmc_reporting {
    uintptr_t engine;
    const struct pmc_reporting *outer;
} pmc_reporting;

/* The progress function that this thread runs, NULL for none. */
const pmc_reporting *pmc_reporting_here(void);

/* The caller of a function: its pm_call, 0 for none, the mode of the thread, in which progress functions run, and the
 * progress function that called it. The Go files set engine, the one that works. */
typedef struct {
    uintptr_t call;
    pmc_mode mode;
    const pmc_reporting *reporting;
    uintptr_t engine;
} pmc_caller;

/* Calls a progress function, since Go cannot call a C pointer. It runs in the floating-point mode of the function's
 * caller, on any thread. Whatever mode it sets, the thread continues in that of the library. */
void pmc_report(pm_progress progress, const char *stage, int64_t done, int64_t total, uintptr_t user, pmc_caller caller);

/* The array of a caller in a form that is safe for Go. Some languages use small addresses for arrays without
 * entries, and Go ends a process if it finds one on a stack: it gets pmc_nowhere instead, which is never read or
 * written. */
extern char pmc_nowhere[16];
#define PMC_NOWHERE 4096 /* addresses below it are invalid */
static inline void *pmc_array(const void *array) {
    return array != NULL && (uintptr_t)array < PMC_NOWHERE ? (void *)pmc_nowhere : (void *)array;
}

#define PMC_CALLER(call) ((pmc_caller){PMC_ID(call), pmc_callers_mode, pmc_reporting_here(), 0})

/* Handles are numbers of Go's registry. They are never dereferenced. */
#define PMC_ID(handle) ((uintptr_t)(handle))

/* Returns a new handle to the caller, whose variable does not change if there is none. */
#define PMC_RETURN_HANDLE(type, status, id, out) do { \
        pm_status pmc_status = (status); \
        if (pmc_status == PM_OK) *(out) = (type *)(id); \
        return pmc_status; \
    } while (0)

#endif
