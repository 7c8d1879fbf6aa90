/* running.c: several functions at a time, processes that fork, and leaks. */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Several at a time ---- */

/* A gate stops a function within its progress function until it is opened. */
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

static void cancel_with(int64_t reserved) {
    gate g = gate_of(engine_of(2, 0), new_call());
    pthread_t thread;
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_reserve(g.call, reserved));
    thread = begin(&g);
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

static void cancel(void) {
    cancel_with(0);
    cancel_with(1 << 20); /* reserved memory of the caller changes nothing */
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

/* The progress function of one engine calls another one, whose progress function calls the first. */
static void call_round(const char *stage, int64_t done, int64_t total, void *user) {
    gate *g = user;
    float z[ROWS * COLS];
    (void)stage, (void)done, (void)total;
    within++;
    WANT(PM_REENTRANT, embed(g->engine, z, NULL));
}

static void call_other(const char *stage, int64_t done, int64_t total, void *user) {
    gate *g = user;
    pm_engine *other = engine_of(2, 0);
    pm_call *call = new_call();
    float z[ROWS * COLS];
    (void)stage, (void)done, (void)total;
    WANT(PM_OK, pm_call_on_progress(call, call_round, g));
    WANT(PM_OK, embed(other, z, call));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(other));
    WANT(PM_REENTRANT, embed(g->engine, z, NULL));
    WANT(PM_OK, pm_call_cancel(g->call));
}

static void reentrant_with(pm_progress progress) {
    gate g = gate_of(engine_of(2, 0), new_call());
    float z[ROWS * COLS];
    WANT(PM_OK, pm_call_on_progress(g.call, progress, &g));
    WANT(PM_CANCELLED, embed(g.engine, z, g.call));
    TRUE(within > 0);
    within = 0;
    WANT(PM_OK, pm_call_free(g.call));
    WANT(PM_OK, embed(g.engine, z, NULL));
    WANT(PM_OK, pm_engine_free(g.engine));
}

static void reentrant(void) {
    reentrant_with(call_back);
    reentrant_with(call_other);
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

/* ---- The system ---- */

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
        alarm(20); /* ends a child that hangs */
        failures = 0;
        WANT(PM_FORKED, embed(engine, z, call));
        TRUE(strstr(pm_last_error(), "spawn") != NULL);
        WANT(PM_FORKED, pm_engine_new(NULL, &more));
        WANT(PM_FORKED, pm_call_cancel(call));
        WANT(PM_FORKED, pm_call_report(call, NULL, 0, &needed));
        WANT(PM_OK, pm_call_free(call));
        WANT(PM_OK, pm_engine_free(engine));
        TRUE(pm_version()[0] != 0 && pm_simd_level()[0] == 0 && pm_abi() > 0);
        exit(ended());
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

/* Refuses a growth of more than 8 MiB above the given number of pages. Go itself takes and returns some MiB. */
static void flat(const char *what, long before) {
    long pages;
    int running;
    usage(&pages, &running);
    printf("%s: %ld KiB, then %ld KiB; %d threads\n", what, before * (sysconf(_SC_PAGESIZE) / 1024), pages * (sysconf(_SC_PAGESIZE) / 1024), running);
    TRUE((pages - before) * sysconf(_SC_PAGESIZE) < 8 << 20);
    TRUE(running < 50);
}

/* Engines do not leak. */
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

/* Calls and errors, which take some hundred bytes, do not leak. */
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
    static const check checks[] = {
        {"busy", busy}, {"cancel", cancel}, {"free", free_in_use}, {"reentrant", reentrant}, {"threads", threads},
        {"fork", forked}, {"engines", engines}, {"calls", calls}};
    return run_check(checks, sizeof checks / sizeof checks[0], argc, argv);
}
