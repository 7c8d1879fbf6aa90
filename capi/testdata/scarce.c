/* scarce.c: the library in a process that has no free file descriptor, or little address space. */
#define _GNU_SOURCE
#include "checks.h"

#include <sys/resource.h>
#include <unistd.h>

static void limit(int what, rlim_t value) {
    struct rlimit r;
    TRUE(getrlimit(what, &r) == 0);
    r.rlim_cur = value;
    TRUE(setrlimit(what, &r) == 0);
}

/* The process does not end: the first function says what is missing, and later ones work without it. */
static void descriptors(void) {
    pm_engine *engine = NULL;
    pm_model *model = NULL;
    pm_fit_settings f;
    int32_t labels[ROWS];
    float z[ROWS * COLS];
    int i;
    TRUE(pm_simd_level()[0] != 0); /* waits until the library is loaded, which raises this limit */
    limit(RLIMIT_NOFILE, 3);
    WANT_TEXT(PM_SYSTEM, "descriptors", pm_engine_new(NULL, &engine));
    limit(RLIMIT_NOFILE, 64);
    engine = engine_of(2, 0);
    limit(RLIMIT_NOFILE, 3);
    for (i = 0; i < ROWS; i++) labels[i] = i % 3;
    memset(&f, 0, sizeof f);
    f.struct_size = sizeof f;
    f.recipe = "classic";
    f.unmeasured = 1;
    WANT(PM_OK, embed(engine, z, NULL));
    WANT(PM_OK, pm_fit(engine, &x, labels, &f, &model, NULL));
    WANT(PM_SYSTEM, pm_model_save(model, "scarce.pm", NULL));
    WANT(PM_SYSTEM, pm_model_open("scarce.pm", &model));
    WANT(PM_OK, pm_engine_free(engine));
}

/* A program may close all descriptors before it first calls the library. */
static void closing(void) {
    pm_engine *engine;
    float z[ROWS * COLS];
    int fd;
    TRUE(pm_simd_level()[0] != 0); /* waits until the library is loaded */
    for (fd = 3; fd < 256; fd++) close(fd);
    engine = engine_of(2, 0);
    WANT(PM_OK, embed(engine, z, NULL));
    usleep(100000);
    WANT(PM_OK, embed(engine, z, NULL));
    WANT(PM_OK, pm_engine_free(engine));
}

static long mapped(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    TRUE(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* If there is no room for threads, calls are refused, and work again when there is. */
static void addresses(void) {
    pm_engine *engine = engine_of(2, 0), *other = NULL;
    pm_call *call = new_call();
    float z[ROWS * COLS];
    WANT(PM_OK, embed(engine, z, call));
    limit(RLIMIT_AS, (rlim_t)mapped() + (16 << 20));
    WANT_TEXT(PM_MEMORY, "address space", embed(engine, z, call));
    WANT_TEXT(PM_MEMORY, "address space", pm_engine_new(NULL, &other));
    limit(RLIMIT_AS, RLIM_INFINITY);
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
}

/* If there is room for fewer threads than processors, calls use fewer. */
static void threads(void) {
    enum { MANY = 60000, FAR = 2000 };
    static float far[MANY * COLS], distances[FAR * 5];
    pm_rows from = {far, MANY, COLS, COLS}, queries = {far, FAR, COLS, COLS};
    pm_engine *engine = engine_of(16, 0);
    int i;
    for (i = 0; i < MANY * COLS; i++) far[i] = points[i % (ROWS * COLS)] + (float)(i / (ROWS * COLS));
    limit(RLIMIT_AS, (rlim_t)mapped() + (160 << 20));
    WANT(PM_OK, pm_nearest(engine, &from, &queries, 5, 4, NULL, distances, NULL));
    for (i = 0; i < 3; i++) { /* later calls may be refused, and do not end the process */
        pm_status status = pm_nearest(engine, &from, &queries, 5, 4, NULL, distances, NULL);
        TRUE(status == PM_OK || status == PM_MEMORY);
    }
    WANT(PM_OK, pm_engine_free(engine));
}

int main(int argc, char **argv) {
    static const check checks[] = {{"descriptors", descriptors}, {"closing", closing}, {"addresses", addresses}, {"threads", threads}};
    return run_check(checks, sizeof checks / sizeof checks[0], argc, argv);
}
