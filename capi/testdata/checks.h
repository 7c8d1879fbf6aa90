/* checks.h: shared by the programs of checks. A program runs the check that its argument names, and ends with 0 if
 * it passes. */
#include "want.h"

#include <stdlib.h>

enum { ROWS = 300, COLS = 3 };

static float points[ROWS * COLS];
static const pm_rows x = {points, ROWS, COLS, COLS};

static void fill(void) {
    uint32_t state = 1;
    int i;
    for (i = 0; i < ROWS * COLS; i++) {
        state = state * 1664525u + 1013904223u;
        points[i] = (float)(state >> 8) / 16777216.0f;
    }
}

static pm_settings settings(void) {
    pm_settings s;
    memset(&s, 0, sizeof s);
    s.struct_size = sizeof s;
    s.mean_neighbours = 8;
    s.form = "attract";
    return s;
}

static pm_engine *engine_of(int workers, int64_t max_memory) {
    pm_engine *engine = NULL;
    pm_engine_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.workers = workers;
    options.max_memory = max_memory;
    WANT(PM_OK, pm_engine_new(&options, &engine));
    return engine;
}

static pm_call *new_call(void) {
    pm_call *call = NULL;
    WANT(PM_OK, pm_call_new(&call));
    return call;
}

static pm_status embed(pm_engine *engine, float *to, pm_call *call) {
    pm_settings s = settings();
    pm_matrix out = {NULL, ROWS, COLS, COLS};
    out.data = to;
    return pm_embed(engine, &x, NULL, &s, &out, call);
}

/* A check and its name. */
typedef struct {
    const char *name;
    void (*run)(void);
} check;

/* Runs the check that the argument of the program names. */
static int run_check(const check *checks, size_t count, int argc, char **argv) {
    size_t i;
    fill();
    for (i = 0; argc == 2 && i < count; i++) {
        if (strcmp(argv[1], checks[i].name) == 0) {
            checks[i].run();
            return ended();
        }
    }
    fprintf(stderr, "no such check\n");
    return 2;
}
