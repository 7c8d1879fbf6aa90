/* shim.h: what the C files and the Go files of the library share. */
#ifndef PM_SHIM_H
#define PM_SHIM_H

#include "pm.h"

/* 1 in a process that was forked after the library was loaded. Of a forked process only the
 * thread that called fork is left, and the Go runtime would wait for the others for ever: every
 * function looks at this before it enters Go. */
extern int pmc_forked;

/* Sets the text of pm_last_error of this thread. */
void pmc_set_error(const char *text, size_t size);

/* Calls a progress function: Go cannot call a pointer of C by itself. */
void pmc_report(pm_progress progress, const char *stage, int64_t done, int64_t total, uintptr_t user);

/* The length of a text, most where it does not end before. */
size_t pmc_length(const char *text, size_t most);

/* What a function begins with: one that works, and one that frees a handle. */
#define PMC_ENTER() do { if (pmc_forked) return PM_FORKED; } while (0)
#define PMC_ENTER_FREE() do { if (pmc_forked) return PM_OK; } while (0)

/* Handles are numbers of Go's registry. Nobody follows them as pointers. */
#define PMC_ID(handle) ((uintptr_t)(handle))

/* Gives a new handle to the caller, whose variable is untouched where there is none. */
#define PMC_RETURN_HANDLE(type, status, id, out) do { \
        pm_status pmc_status = (status); \
        if (pmc_status == PM_OK) *(out) = (type *)(id); \
        return pmc_status; \
    } while (0)

#endif
