/* checks.c: what the library answers to programs that use it wrongly or in unusual ways.
 *
 *   checks NAME
 *
 * runs one check, and ends with 0 where all was as it should be. */
#define _POSIX_C_SOURCE 200809L
#include "pm.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 300, COLS = 3 };

static int failures = 0;

#define WANT(status, expression) want(status, expression, __LINE__, #expression)
#define TRUE(expression) \
    do { \
        if (!(expression)) { \
            failures++; \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #expression); \
        } \
    } while (0)

static void want(pm_status status, pm_status got, int line, const char *what) {
    if (got == status && (got == PM_OK || pm_last_error()[0] != 0)) return;
    failures++;
    fprintf(stderr, "line %d: %s is %s (%s), want %s\n", line, what, pm_status_name(got), pm_last_error(), pm_status_name(status));
}

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

static pm_engine *engine_of(int workers, int64_t budget) {
    pm_engine *engine = NULL;
    pm_engine_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.workers = workers;
    options.budget = budget;
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

/* ---- Arguments ---- */

static void nulls(void) {
    pm_engine *engine = engine_of(1, 0);
    pm_call *call = new_call();
    pm_settings s = settings();
    float z[ROWS * COLS];
    pm_matrix out = {NULL, ROWS, COLS, COLS}, nowhere = {NULL, ROWS, COLS, COLS};
    pm_rows nothing = {NULL, ROWS, COLS, COLS};
    size_t needed = 0;
    char small[1];
    out.data = z;
    WANT(PM_ARGUMENT, pm_engine_new(NULL, NULL));
    WANT(PM_ARGUMENT, pm_call_new(NULL));
    WANT(PM_ARGUMENT, pm_engine_workers(engine, NULL));
    WANT(PM_HANDLE, pm_engine_workers(NULL, NULL));
    WANT(PM_OK, pm_engine_free(NULL));
    WANT(PM_OK, pm_call_free(NULL));
    WANT(PM_HANDLE, pm_call_cancel(NULL));
    WANT(PM_HANDLE, pm_call_on_progress(NULL, NULL, NULL));
    WANT(PM_HANDLE, pm_call_reserve(NULL, 1));
    WANT(PM_HANDLE, pm_call_report(NULL, NULL, 0, &needed));
    WANT(PM_ARGUMENT, pm_call_report(call, NULL, 0, NULL));
    WANT(PM_ARGUMENT, pm_call_report(call, NULL, 9, &needed));
    WANT(PM_SIZE, pm_call_report(call, small, sizeof small, &needed));
    TRUE(needed == strlen("{}") + 1);
    WANT(PM_HANDLE, pm_embed(NULL, &x, NULL, &s, &out, NULL));
    WANT(PM_ARGUMENT, pm_embed(engine, NULL, NULL, &s, &out, NULL));
    WANT(PM_ARGUMENT, pm_embed(engine, &nothing, NULL, &s, &out, NULL));
    WANT(PM_ARGUMENT, pm_embed(engine, &x, NULL, NULL, &out, NULL));
    WANT(PM_ARGUMENT, pm_embed(engine, &x, NULL, &s, NULL, NULL));
    WANT(PM_ARGUMENT, pm_embed(engine, &x, NULL, &s, &nowhere, NULL));
    WANT(PM_ARGUMENT, pm_converge(engine, &x, NULL, NULL, &out, NULL));
    WANT(PM_ARGUMENT, pm_map(engine, &x, &s, NULL, NULL));
    WANT(PM_ARGUMENT, pm_plan(engine, &x, &s, 0, NULL));
    WANT(PM_ARGUMENT, pm_plan(engine, NULL, &s, 0, call));
    WANT(PM_ARGUMENT, pm_plan(engine, &x, NULL, 1, call));
    s.start = &nothing;
    WANT(PM_ARGUMENT, pm_embed(engine, &x, NULL, &s, &out, NULL));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
    TRUE(strcmp(pm_version(), PM_VERSION) == 0);
    TRUE(pm_abi() == PM_ABI_MAJOR * 1000 + PM_ABI_MINOR);
    TRUE(pm_simd_level()[0] != 0 && pm_simd_level() == pm_simd_level());
    TRUE(strcmp(pm_status_name(PM_INTERNAL), "PM_INTERNAL") == 0);
    TRUE(pm_status_name(-1)[0] == 0 && pm_status_name(PM_INTERNAL + 1)[0] == 0);
}

static void shapes(void) {
    static const pm_rows bad[] = {
        {points, -1, COLS, COLS}, {points, ROWS, -1, COLS}, {points, ROWS, COLS, COLS - 1}, {points, ROWS, COLS, -COLS},
        {points, 0, COLS, COLS}, {points, ROWS, 0, 0}, {NULL, 0, 0, 0}, {points, INT64_MAX, COLS, COLS},
        {points, ROWS, COLS, INT64_MAX}, {points, INT64_MAX, INT64_MAX, INT64_MAX}, {points, INT64_MAX / 4, 8, 8}, {points, INT64_MAX, 0, 0},
        {points, 2, 1, INT64_MAX / 4 - 1 + 1}};
    static float z[2 * ROWS * COLS + 1];
    pm_engine *engine = engine_of(1, 0);
    pm_settings s = settings();
    pm_matrix out = {NULL, ROWS, COLS, COLS};
    pm_rows start = {points, ROWS - 1, COLS, COLS}, odd = {NULL, ROWS, COLS, COLS};
    size_t i;
    out.data = z;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pm_matrix to = {NULL, bad[i].rows, bad[i].cols, bad[i].stride};
        to.data = z;
        WANT(PM_SHAPE, pm_embed(engine, &bad[i], NULL, &s, &out, NULL));
        WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &to, NULL));
        WANT(PM_SHAPE, pm_map(engine, &x, &s, &to, NULL));
    }
    out.rows = ROWS - 1;
    WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    out.rows = ROWS;
    out.cols = COLS - 1;
    WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    out.cols = COLS;
    out.data = points; /* where x is */
    WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    out.data = z;
    odd.data = (const float *)(const void *)((const char *)points + 1);
    WANT(PM_ARGUMENT, pm_embed(engine, &odd, NULL, &s, &out, NULL));
    s.start = &start;
    WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    s.start = NULL;
    out.stride = 2 * COLS; /* what is between rows stays as it is */
    for (i = 0; i < sizeof z / sizeof z[0]; i++) z[i] = -7;
    WANT(PM_OK, pm_embed(engine, &x, NULL, &s, &out, NULL));
    for (i = 0; i < ROWS; i++) TRUE(z[2 * COLS * i] != -7 && z[2 * COLS * i + COLS] == -7 && z[2 * COLS * i + 2 * COLS - 1] == -7);
    WANT(PM_OK, pm_engine_free(engine));
}

static void wrong_settings(void) {
    static const char not_utf8[] = {'a', (char)0xff, 0};
    pm_engine *engine = engine_of(1, 0), *none = (pm_engine *)(void *)points;
    pm_engine_options options;
    pm_settings s;
    float z[ROWS * COLS], kept = points[4];
    pm_matrix out = {NULL, ROWS, COLS, COLS};
    int32_t labels[ROWS] = {0};
    struct { pm_settings known; double later; } newer;
    out.data = z;
#define REFUSED(status, change) do { s = settings(); change; WANT(status, pm_embed(engine, &x, NULL, &s, &out, NULL)); } while (0)
    REFUSED(PM_SETTING, s.mean_neighbours = 0);
    REFUSED(PM_SETTING, s.mean_neighbours = -1);
    REFUSED(PM_SETTING, s.sigma = 1);
    REFUSED(PM_SETTING, (s.mean_neighbours = 0, s.sigma = 1, s.gamma = 1));
    REFUSED(PM_SETTING, (s.mean_neighbours = 0, s.sigma = -1));
    REFUSED(PM_SETTING, s.neighbours = -4);
    REFUSED(PM_SETTING, s.columns = INT64_MIN);
    REFUSED(PM_SETTING, s.steps = -1);
    REFUSED(PM_SETTING, s.form = "neither");
    REFUSED(PM_SETTING, s.op = "abacus");
    REFUSED(PM_SETTING, s.isolated = "?");
    REFUSED(PM_SETTING, s.normalize = "?");
    REFUSED(PM_SETTING, s.table = "?");
    REFUSED(PM_ARGUMENT, s.form = not_utf8);
    REFUSED(PM_LABELS, s.coefficient = 1);
    REFUSED(PM_ARGUMENT, s.struct_size = 0);
    REFUSED(PM_ARGUMENT, s.struct_size = sizeof s - 1);
    REFUSED(PM_ARGUMENT, s.struct_size = (size_t)-1);
    REFUSED(PM_OK, s.steps = 2);
    labels[3] = -1;
    s = settings();
    s.coefficient = 1;
    WANT(PM_LABELS, pm_embed(engine, &x, labels, &s, &out, NULL));
    s.allow_unlabelled = 1;
    WANT(PM_OK, pm_embed(engine, &x, labels, &s, &out, NULL));
    memset(&newer, 0, sizeof newer);
    newer.known = settings();
    newer.known.struct_size = sizeof newer;
    WANT(PM_OK, pm_embed(engine, &x, NULL, &newer.known, &out, NULL));
    newer.later = 1;
    WANT(PM_ARGUMENT, pm_embed(engine, &x, NULL, &newer.known, &out, NULL));
    s = settings();
    points[4] = strtof("nan", NULL);
    WANT(PM_NOT_FINITE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    points[4] = kept;
    memset(points, 0, COLS * sizeof points[0]);
    s.normalize_rows = 1;
    WANT(PM_ZERO_ROW, pm_embed(engine, &x, NULL, &s, &out, NULL));
    fill();
    memset(&options, 0, sizeof options);
    WANT(PM_ARGUMENT, pm_engine_new(&options, &none));
    options.struct_size = sizeof options;
    options.workers = -1;
    WANT(PM_SETTING, pm_engine_new(&options, &none));
    options.workers = 1 << 20;
    WANT(PM_SETTING, pm_engine_new(&options, &none));
    options.workers = 0;
    options.budget = -1;
    WANT(PM_SETTING, pm_engine_new(&options, &none));
    options.budget = 0;
    options.level = "abacus";
    WANT(PM_SETTING, pm_engine_new(&options, &none));
    TRUE(none == (pm_engine *)(void *)points); /* untouched by failures */
    options.level = "generic";
    options.measure = 1;
    WANT(PM_OK, pm_engine_new(&options, &none));
    WANT(PM_OK, embed(none, z, NULL));
    WANT(PM_OK, pm_engine_free(none));
    WANT(PM_OK, pm_engine_free(engine));
}

static void handles(void) {
    pm_engine *engine = engine_of(1, 0), *second;
    pm_call *call = new_call();
    float z[ROWS * COLS];
    int32_t workers = 0;
    WANT(PM_HANDLE, embed((pm_engine *)(void *)call, z, NULL));
    WANT(PM_HANDLE, embed(engine, z, (pm_call *)(void *)engine));
    WANT(PM_HANDLE, embed((pm_engine *)(void *)points, z, NULL));
    WANT(PM_HANDLE, pm_engine_free((pm_engine *)(void *)call));
    WANT(PM_HANDLE, pm_call_free((pm_call *)(void *)engine));
    WANT(PM_HANDLE, pm_call_free((pm_call *)(void *)(uintptr_t)1));
    WANT(PM_OK, pm_engine_workers(engine, &workers));
    TRUE(workers == 1);
    WANT(PM_OK, pm_engine_free(engine));
    second = engine_of(1, 0);
    TRUE(second != engine); /* numbers are not used again */
    WANT(PM_HANDLE, pm_engine_free(engine));
    WANT(PM_HANDLE, embed(engine, z, NULL));
    WANT(PM_HANDLE, pm_engine_workers(engine, &workers));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_HANDLE, pm_call_free(call));
    WANT(PM_HANDLE, embed(second, z, call));
    WANT(PM_OK, pm_engine_free(second));
}

static void budgets(void) {
    pm_engine *engine = engine_of(1, 64 << 20), *tiny = engine_of(1, 1000);
    pm_call *call = new_call();
    float z[ROWS * COLS];
    WANT(PM_MEMORY, embed(tiny, z, NULL));
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_SETTING, pm_call_reserve(call, -1));
    WANT(PM_OK, pm_call_reserve(call, 1 << 20));
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_OK, pm_call_reserve(call, INT64_C(1) << 40));
    WANT(PM_MEMORY, embed(engine, z, call));
    WANT(PM_OK, pm_call_reserve(call, 0));
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
    WANT(PM_OK, pm_engine_free(tiny));
}

/* ---- Several at a time ---- */

/* A gate stops a function within its progress function until somebody opens it. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int reached, open;
    pm_engine *engine;
    pm_call *call;
    pm_status status; /* of the function */
} gate;

static gate gate_of(pm_engine *engine, pm_call *call) {
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, NULL, NULL, PM_INTERNAL};
    g.engine = engine;
    g.call = call;
    return g;
}

static void change(gate *g, int *what) {
    pthread_mutex_lock(&g->mutex);
    *what = 1;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

static void await(gate *g, int *what) {
    pthread_mutex_lock(&g->mutex);
    while (!*what) pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void stop_at_gate(const char *stage, int64_t done, int64_t total, void *user) {
    gate *g = user;
    TRUE(stage[0] != 0 && done <= total);
    change(g, &g->reached);
    await(g, &g->open);
}

static void *embed_to_gate(void *user) {
    gate *g = user;
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_on_progress(g->call, stop_at_gate, g));
    g->status = embed(g->engine, z, g->call);
    return NULL;
}

static pthread_t begin(gate *g) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, embed_to_gate, g) != 0) exit(1);
    await(g, &g->reached);
    return thread;
}

static void busy(void) {
    gate g = gate_of(engine_of(2, 0), new_call());
    pthread_t thread = begin(&g);
    pm_engine *other = engine_of(1, 0);
    float z[ROWS * COLS];
    WANT(PM_BUSY, embed(g.engine, z, g.call));
    WANT(PM_BUSY, embed(other, z, g.call));
    WANT(PM_BUSY, pm_call_reserve(g.call, 1));
    WANT(PM_BUSY, pm_call_on_progress(g.call, NULL, NULL));
    WANT(PM_OK, embed(other, z, NULL));
    change(&g, &g.open);
    pthread_join(thread, NULL);
    TRUE(g.status == PM_OK);
    WANT(PM_OK, pm_call_on_progress(g.call, NULL, NULL));
    WANT(PM_OK, embed(g.engine, z, g.call));
    WANT(PM_OK, pm_engine_free(other));
    WANT(PM_OK, pm_engine_free(g.engine));
    WANT(PM_OK, pm_call_free(g.call));
}

static void cancel(void) {
    gate g = gate_of(engine_of(2, 0), new_call());
    pthread_t thread = begin(&g);
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_cancel(g.call));
    change(&g, &g.open);
    pthread_join(thread, NULL);
    TRUE(g.status == PM_CANCELLED);
    WANT(PM_CANCELLED, embed(g.engine, z, g.call));
    WANT(PM_OK, pm_call_cancel(g.call));
    WANT(PM_OK, embed(g.engine, z, NULL));
    WANT(PM_OK, pm_call_free(g.call));
    WANT(PM_OK, pm_engine_free(g.engine));
}

static void *open_later(void *user) {
    gate *g = user;
    struct timespec little = {0, 50 * 1000 * 1000};
    nanosleep(&little, NULL);
    change(g, &g->open);
    return NULL;
}

static void free_in_use(void) {
    gate g = gate_of(engine_of(2, 0), new_call());
    pthread_t thread = begin(&g), opener;
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_free(g.call));
    WANT(PM_HANDLE, pm_call_cancel(g.call));
    if (pthread_create(&opener, NULL, open_later, &g) != 0) exit(1);
    WANT(PM_OK, pm_engine_free(g.engine)); /* waits for the function, and so for the gate */
    TRUE(g.open);
    pthread_join(thread, NULL);
    pthread_join(opener, NULL);
    TRUE(g.status == PM_OK);
    WANT(PM_HANDLE, embed(g.engine, z, NULL));
}

static int within = 0;

static void call_back(const char *stage, int64_t done, int64_t total, void *user) {
    gate *g = user;
    float z[ROWS * COLS];
    pm_call *call = new_call();
    (void)stage, (void)done, (void)total;
    within++;
    WANT(PM_REENTRANT, embed(g->engine, z, NULL));
    WANT(PM_REENTRANT, embed(g->engine, z, call));
    WANT(PM_REENTRANT, pm_engine_free(g->engine));
    WANT(PM_BUSY, embed(g->engine, z, g->call));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_call_cancel(g->call));
}

static void reentrant(void) {
    gate g = gate_of(engine_of(2, 0), new_call());
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_on_progress(g.call, call_back, &g));
    WANT(PM_CANCELLED, embed(g.engine, z, g.call));
    TRUE(within > 0);
    WANT(PM_OK, pm_call_free(g.call));
    WANT(PM_OK, embed(g.engine, z, NULL));
    WANT(PM_OK, pm_engine_free(g.engine));
}

typedef struct {
    pm_engine *engine;
    float z[ROWS * COLS];
} job;

static void *repeat(void *user) {
    job *j = user;
    pm_call *call = new_call();
    int i;
    for (i = 0; i < 20; i++) {
        WANT(PM_OK, embed(j->engine, j->z, i % 2 ? call : NULL));
        WANT(PM_HANDLE, embed(NULL, j->z, NULL));
        TRUE(strstr(pm_last_error(), "engine") != NULL);
    }
    WANT(PM_OK, pm_call_free(call));
    return NULL;
}

static void threads(void) {
    enum { THREADS = 8 };
    static job jobs[THREADS];
    pthread_t all[THREADS];
    pm_engine *one = engine_of(1, 0), *two = engine_of(2, 0);
    float z[ROWS * COLS];
    int i;
    WANT(PM_OK, embed(one, z, NULL));
    for (i = 0; i < THREADS; i++) {
        jobs[i].engine = i % 2 ? one : two;
        if (pthread_create(&all[i], NULL, repeat, &jobs[i]) != 0) exit(1);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(all[i], NULL);
        TRUE(memcmp(jobs[i].z, z, sizeof z) == 0); /* the same bits for any number of workers */
    }
    TRUE(pm_last_error()[0] == 0); /* the errors were those of other threads */
    WANT(PM_OK, pm_engine_free(one));
    WANT(PM_OK, pm_engine_free(two));
}

/* ---- What the system does ---- */

static int exit_status(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) exit(1);
    return status;
}

static void forked(void) {
    pm_engine *engine = engine_of(2, 0);
    pm_call *call = new_call();
    float z[ROWS * COLS];
    int status;
    pid_t child;
    WANT(PM_OK, embed(engine, z, call));
    child = fork();
    if (child == 0) {
        pm_engine *more = NULL;
        size_t needed;
        alarm(60); /* ends a child that hangs */
        failures = 0;
        WANT(PM_FORKED, embed(engine, z, call));
        TRUE(strstr(pm_last_error(), "spawn") != NULL);
        WANT(PM_FORKED, pm_engine_new(NULL, &more));
        WANT(PM_FORKED, pm_call_cancel(call));
        WANT(PM_FORKED, pm_call_report(call, NULL, 0, &needed));
        WANT(PM_OK, pm_call_free(call));
        WANT(PM_OK, pm_engine_free(engine));
        TRUE(pm_version()[0] != 0 && pm_simd_level()[0] == 0 && pm_abi() > 0);
        exit(failures != 0);
    }
    status = exit_status(child);
    TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
}

/* The resident pages and the threads of this process. */
static void usage(long *pages, int *running) {
    char line[256];
    long size;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, pages) != 2) exit(1);
    fclose(f);
    if ((f = fopen("/proc/self/status", "r")) == NULL) exit(1);
    *running = 0;
    while (fgets(line, sizeof line, f) != NULL) sscanf(line, "Threads: %d", running);
    fclose(f);
}

/* Refuses a growth of more than 8 MiB since there were so many pages. Go takes and gives back
 * some MiB by itself. */
static void flat(const char *what, long before) {
    long pages;
    int running;
    usage(&pages, &running);
    printf("%s: %ld KiB, then %ld KiB; %d threads\n", what, before * (sysconf(_SC_PAGESIZE) / 1024), pages * (sysconf(_SC_PAGESIZE) / 1024), running);
    TRUE((pages - before) * sysconf(_SC_PAGESIZE) < 8 << 20);
    TRUE(running < 50);
}

/* Engines leave nothing behind. */
static void engines(void) {
    enum { CYCLES = 10000, WARM = 2000, FEW = 6 };
    float z[FEW * COLS];
    long before = 0;
    int running, i;
    pm_rows few = {points, FEW, COLS, COLS};
    pm_matrix out = {NULL, FEW, COLS, COLS};
    pm_settings s = settings();
    out.data = z;
    s.mean_neighbours = 2;
    for (i = 0; i < CYCLES; i++) {
        pm_engine *engine = engine_of(2, 64 << 20);
        WANT(PM_OK, pm_embed(engine, &few, NULL, &s, &out, NULL));
        WANT(PM_OK, pm_engine_free(engine));
        if (i + 1 == WARM) usage(&before, &running);
    }
    flat("engines", before);
}

/* Calls and errors, which take some hundred bytes, leave nothing behind. */
static void calls(void) {
    enum { CYCLES = 200000, WARM = 20000 };
    long before = 0;
    int running, i;
    for (i = 0; i < CYCLES; i++) {
        pm_call *call = new_call();
        WANT(PM_SETTING, pm_call_reserve(call, -1));
        WANT(PM_OK, pm_call_free(call));
        if (i + 1 == WARM) usage(&before, &running);
    }
    flat("calls", before);
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*check)(void); } checks[] = {
        {"nulls", nulls}, {"shapes", shapes}, {"settings", wrong_settings}, {"handles", handles}, {"budgets", budgets}, {"busy", busy},
        {"cancel", cancel}, {"free", free_in_use}, {"reentrant", reentrant}, {"threads", threads}, {"fork", forked}, {"engines", engines}, {"calls", calls}};
    size_t i;
    fill();
    for (i = 0; argc == 2 && i < sizeof checks / sizeof checks[0]; i++) {
        if (strcmp(argv[1], checks[i].name) == 0) {
            checks[i].check();
            return failures != 0;
        }
    }
    fprintf(stderr, "no such check\n");
    return 2;
}
