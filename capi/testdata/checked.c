/* checked.c: a program for valgrind, without a mistake and with one in its progress function. */
#include "checks.h"

static size_t within = 8; /* of a block of 8 bytes */

static void progress(const char *stage, int64_t done, int64_t total, void *user) {
    volatile char *block = calloc(8, 1);
    (void)stage, (void)done, (void)total, (void)user;
    if (block == NULL) exit(2);
    block[within - 1] = 1;
    free((void *)block);
}

static void right(void) {
    pm_engine *engine = engine_of(2, 0);
    pm_call *call = new_call();
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_on_progress(call, progress, NULL));
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_HANDLE, embed(NULL, z, call)); /* this leaves an error text */
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
}

static void mistaken(void) {
    within = 9;
    right();
}

int main(int argc, char **argv) {
    static const check checks[] = {{"right", right}, {"mistaken", mistaken}};
    return run_check(checks, sizeof checks / sizeof checks[0], argc, argv);
}
