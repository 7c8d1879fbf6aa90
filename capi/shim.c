/* shim.c: the library itself, engines and calls. Each function of pm.h is here or in another shim_*.c, and passes
 * its arguments to the function pmgo_* in the Go files. */
#include "_cgo_export.h"
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int pmc_forked = 0;

char pmc_nowhere[16] __attribute__((aligned(16)));

/* The text of the last error is under a key and not in a thread-local variable: those of a library with a Go
 * runtime must fit into the few bytes that glibc reserves for libraries that are loaded late. */
static pthread_key_t error_key;
static int error_key_made = 0;

/* The pmc_reporting of each thread. */
static pthread_key_t reporting_key;
static int reporting_key_made = 0;

static void after_fork(void) { pmc_forked = 1; }

__attribute__((constructor)) static void pmc_load(void) {
    error_key_made = pthread_key_create(&error_key, free) == 0;
    reporting_key_made = pthread_key_create(&reporting_key, NULL) == 0;
    pthread_atfork(NULL, NULL, after_fork);
}

void pmc_set_error(const char *text, size_t size) {
    char *copy;
    if (!error_key_made) return;
    free(pthread_getspecific(error_key));
    copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    if (pthread_setspecific(error_key, copy) != 0) free(copy);
}

const char *pm_last_error(void) {
    const char *text;
    if (pmc_forked)
        return "this process was forked after the library was loaded, and cannot use it; start processes with spawn or exec, "
               "or load the library after the fork";
    if (!error_key_made) return "";
    text = pthread_getspecific(error_key);
    return text == NULL ? "" : text;
}

const pmc_reporting *pmc_reporting_here(void) {
    return reporting_key_made ? pthread_getspecific(reporting_key) : NULL;
}

void pmc_report(pm_progress progress, const char *stage, int64_t done, int64_t total, uintptr_t user, pmc_caller caller) {
    const pmc_reporting *before = pmc_reporting_here();
    const pmc_reporting here = {caller.engine, caller.reporting};
    if (reporting_key_made) pthread_setspecific(reporting_key, &here);
    pmc_set_mode(caller.mode);
    progress(stage, done, total, (void *)user);
    pmc_set_mode(PMC_MODE);
    if (reporting_key_made) pthread_setspecific(reporting_key, before);
}

size_t pmc_length(const char *text, size_t most) {
    const char *end = memchr(text, 0, most);
    return end == NULL ? most : (size_t)(end - text);
}

const char *pm_version(void) { return PM_VERSION; }

int32_t pm_abi(void) { return PM_ABI_MAJOR * 1000 + PM_ABI_MINOR; }

const char *pm_simd_level(void) {
    PMC_ENTER_OR("");
    return pmgo_simd_level();
}

const char *pm_status_name(pm_status status) {
    static const char *const names[] = {
        "PM_OK", "PM_ARGUMENT", "PM_HANDLE", "PM_SETTING", "PM_SHAPE", "PM_NOT_FINITE", "PM_ZERO_ROW", "PM_LABELS",
        "PM_TOLERANCE", "PM_DIVERGED", "PM_MEMORY", "PM_CANCELLED", "PM_BUSY", "PM_REENTRANT", "PM_SIZE", "PM_FILE",
        "PM_SYSTEM", "PM_PRIVACY", "PM_BUDGET", "PM_SPENT", "PM_FORKED", "PM_INTERNAL"};
    if (status < 0 || (size_t)status >= sizeof names / sizeof names[0]) return "";
    return names[status];
}

pm_status pm_engine_new(const pm_engine_options *options, pm_engine **engine) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_engine, pmgo_engine_new((pm_engine_options *)options, engine == NULL ? NULL : &id), id, engine);
}

pm_status pm_engine_workers(pm_engine *engine, int32_t *workers) {
    PMC_ENTER();
    return pmgo_engine_workers(PMC_ID(engine), workers);
}

pm_status pm_engine_free(pm_engine *engine) {
    PMC_ENTER_FREE();
    return pmgo_engine_free(PMC_ID(engine), PMC_CALLER(NULL));
}

pm_status pm_call_new(pm_call **call) {
    uintptr_t id = 0;
    PMC_ENTER();
    PMC_RETURN_HANDLE(pm_call, pmgo_call_new(call == NULL ? NULL : &id), id, call);
}

pm_status pm_call_on_progress(pm_call *call, pm_progress progress, void *user) {
    PMC_ENTER();
    return pmgo_call_on_progress(PMC_ID(call), progress, (uintptr_t)user);
}

pm_status pm_call_reserve(pm_call *call, int64_t bytes) {
    PMC_ENTER();
    return pmgo_call_reserve(PMC_ID(call), bytes);
}

pm_status pm_call_cancel(pm_call *call) {
    PMC_ENTER();
    return pmgo_call_cancel(PMC_ID(call));
}

pm_status pm_call_report(pm_call *call, char *buffer, size_t size, size_t *needed) {
    PMC_ENTER();
    return pmgo_call_report(PMC_ID(call), pmc_array(buffer), size, needed);
}

pm_status pm_call_free(pm_call *call) {
    PMC_ENTER_FREE();
    return pmgo_call_free(PMC_ID(call));
}
