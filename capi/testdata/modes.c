/* modes.c: results of the library do not depend on the floating-point modes of the program.
 *
 *   modes LIBRARY MODE RELEASE
 *
 * loads the library in one of the modes and calls it in that mode: from this thread, and from another one at the
 * same time. Loaded in mode 0, that of a new process, it is called in all modes at the same time. Progress
 * functions check that they run in the mode of the caller, and set another one. It prints a line with the number of
 * modes, and one with a hash of the results of each round: all of them should be the same. A program that is linked
 * with the archive is compiled with LINKED; LIBRARY is then ignored. RELEASE is a file of a private step, which is
 * made if it does not exist: its noise is always different. */
#define _POSIX_C_SOURCE 200809L
#include "../mode.h"
#include "pm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each way to round, with and without small results and small operands as 0; then exceptions as signals, or
 * exceptions that have occurred. */
#if defined(__x86_64__)
#define ROUNDED(r) PMC_MODE | (r) << 13, PMC_MODE | (r) << 13 | 0x8000, PMC_MODE | (r) << 13 | 0x40, PMC_MODE | (r) << 13 | 0x8040
#define OTHERS 0, 0xe040, PMC_MODE | 0x3f
#else
#define ROUNDED(r) PMC_MODE | (r) << 22, PMC_MODE | (r) << 22 | 1ul << 24, PMC_MODE | (r) << 22 | 1ul << 25, PMC_MODE | (r) << 22 | 3ul << 24
#define OTHERS PMC_MODE | 1ul << 26, PMC_MODE | 0x1ful << 32
#endif
static const pmc_mode modes[] = {ROUNDED(0), ROUNDED(1), ROUNDED(2), ROUNDED(3), OTHERS};
enum { MODES = sizeof modes / sizeof modes[0], ROWS = 150, COLS = 5, CLASSES = 4, WORKERS = 4, NEAR = 5, PAIRS = 32 * ROWS };

/* The functions of a library that is loaded late. */
#define EACH(do) \
    do(pm_engine_new) do(pm_engine_free) do(pm_call_new) do(pm_call_on_progress) do(pm_call_report) do(pm_call_free) do(pm_plan) \
    do(pm_embed) do(pm_converge) do(pm_map) do(pm_extend) do(pm_nearest) do(pm_graph_new) do(pm_graph_between) do(pm_graph_size) \
    do(pm_graph_copy) do(pm_graph_distances) do(pm_graph_free) do(pm_operator_new) do(pm_operator_apply) do(pm_operator_free) \
    do(pm_fit) do(pm_model_rows) do(pm_model_apply) do(pm_model_free) do(pm_sensitivity) do(pm_privatize) do(pm_continue) \
    do(pm_release_write) do(pm_release_read) do(pm_release_free) do(pm_simd_level) do(pm_last_error)
#ifdef LINKED
#define DECLARE(name) static __typeof__(&name) name##_ = name;
EACH(DECLARE)
static void load(const char *path) { (void)path; }
#else
#define DECLARE(name) static __typeof__(&name) name##_;
EACH(DECLARE)
static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define FIND(name) *(void **)&name##_ = dlsym(library, #name);
    EACH(FIND)
}
#endif

/* The input is made without arithmetic, which the mode would change. */
static float points[ROWS * COLS], small[ROWS];
static int32_t labels[ROWS];
static const pm_rows x = {points, ROWS, COLS, COLS}, few = {points, 7, COLS, COLS}, tiny = {small, ROWS, 1, 1};
static pm_engine *engine;
static char release_bytes[1 << 14];
static size_t release_size;

static void fill(void) {
    uint32_t state = 1, word;
    int i;
    for (i = 0; i < ROWS * COLS; i++) {
        state = state * 1664525u + 1013904223u;
        word = 0x3f800000u | state >> 9; /* 1 to 2 */
        memcpy(&points[i], &word, sizeof word);
    }
    for (i = 0; i < ROWS; i++) {
        word = 0x00000100u + (uint32_t)i * 977u; /* below the smallest normal number */
        memcpy(&small[i], &word, sizeof word);
        labels[i] = i % CLASSES;
    }
}

static uint32_t hash(uint32_t h, const void *data, size_t size) {
    const unsigned char *p = data;
    size_t i;
    for (i = 0; i < size; i++) h = (h ^ p[i]) * 16777619u;
    return h;
}

/* Every call succeeds and does not change the mode of its caller. */
#define DO(call) do { \
        pmc_mode before = pmc_get_mode(); \
        pm_status status = (call); \
        pmc_mode after = pmc_get_mode(); \
        if (status != PM_OK || after != before) { \
            fprintf(stderr, "%s: status %d (%s), mode %lx before and %lx after\n", #call, (int)status, pm_last_error_(), (unsigned long)before, (unsigned long)after); \
            exit(1); \
        } \
    } while (0)

/* A caller: its mode, and how often its progress function was called. */
typedef struct {
    pmc_mode mode;
    pm_call *call;
    unsigned told;
} caller;

/* A progress function that changes the mode of the thread that calls it. */
static void progress(const char *stage, int64_t done, int64_t total, void *user) {
    caller *c = user;
    (void)stage, (void)done, (void)total;
    if (pmc_get_mode() != c->mode) {
        fprintf(stderr, "a progress function has mode %lx, its caller %lx\n", (unsigned long)pmc_get_mode(), (unsigned long)c->mode);
        exit(1);
    }
    pmc_set_mode(modes[c->told++ % MODES]);
}

/* Memory for results, and their hash. */
typedef struct {
    float data[ROWS * COLS];
    int64_t indptr[ROWS + 1], indices[PAIRS];
    float weights[PAIRS];
    char report[4096];
    uint32_t hash;
} results;

static pm_matrix matrix(results *r, int64_t rows, int64_t columns) {
    pm_matrix m;
    m.data = r->data;
    m.rows = rows;
    m.cols = m.stride = columns;
    return m;
}

static void add(results *r, const void *data, size_t size) { r->hash = hash(r->hash, data, size); }

static void add_matrix(results *r, const pm_matrix *m) { add(r, m->data, (size_t)(m->rows * m->cols) * sizeof *m->data); }

static pm_settings settings(void) {
    pm_settings s;
    memset(&s, 0, sizeof s);
    s.struct_size = sizeof s;
    return s;
}

static pm_private_settings private_settings(void) {
    pm_private_settings p;
    memset(&p, 0, sizeof p);
    p.struct_size = sizeof p;
    p.sigma = 0.5;
    p.epsilon = 0.5;
    p.delta = 1e-6;
    p.sigma_q = 1;
    p.relation = "replace-one";
    p.label_mode = "dropped";
    p.normalize_rows = 1;
    p.uncounted = 1;
    return p;
}

static void embeddings(results *r, pm_call *call) {
    pm_settings s = settings();
    pm_matrix out = matrix(r, ROWS, COLS);
    pm_rows embedding;
    float placed[7 * 2];
    pm_matrix to;
    s.mean_neighbours = 8;
    s.form = "attract";
    s.coefficient = 3;
    DO(pm_plan_(engine, &x, &s, 0, call));
    DO(pm_embed_(engine, &x, labels, &s, &out, call));
    add_matrix(r, &out);
    s.mean_neighbours = 0;
    s.neighbours = 8;
    s.coefficient = 0;
    out = matrix(r, ROWS, 2);
    DO(pm_map_(engine, &x, &s, &out, call));
    add_matrix(r, &out);
    DO(pm_converge_(engine, &x, NULL, &s, &out, call));
    add_matrix(r, &out);
    embedding.data = out.data;
    embedding.rows = ROWS;
    embedding.cols = embedding.stride = 2;
    to.data = placed;
    to.rows = 7;
    to.cols = to.stride = 2;
    DO(pm_extend_(engine, &x, &embedding, &few, NEAR, &to, call));
    add_matrix(r, &to);
    s = settings();
    s.sigma = 0.5;
    s.coefficient = 0.5;
    s.dim = 3;
    s.steps = 4;
    out = matrix(r, ROWS, 3);
    DO(pm_embed_(engine, &x, labels, &s, &out, call));
    add_matrix(r, &out);
}

static void graph(results *r, pm_graph *g, pm_call *call) {
    int64_t rows, pairs;
    DO(pm_graph_size_(g, &rows, &pairs));
    if (rows > ROWS || pairs < rows || pairs > PAIRS) {
        fprintf(stderr, "a graph of %ld pairs\n", (long)pairs);
        exit(1);
    }
    DO(pm_graph_copy_(g, 8, r->indptr, r->indices, r->weights));
    add(r, r->indices, (size_t)pairs * sizeof *r->indices);
    add(r, r->weights, (size_t)pairs * sizeof *r->weights);
    if (rows == ROWS) {
        DO(pm_graph_distances_(engine, g, &x, r->weights, call));
        add(r, r->weights, (size_t)pairs * sizeof *r->weights);
    }
    DO(pm_graph_free_(g));
}

static void graphs(results *r, pm_call *call) {
    pm_settings s = settings();
    pm_matrix out = matrix(r, ROWS, 1);
    pm_graph *g = NULL;
    pm_operator *op = NULL;
    s.sigma = 0.5;
    s.radius = 0.5;
    DO(pm_graph_new_(engine, &x, &s, &g, call));
    graph(r, g, call);
    DO(pm_graph_between_(engine, &x, &few, &s, &g, call));
    graph(r, g, call);
    DO(pm_nearest_(engine, &x, NULL, NEAR, 4, NULL, r->data, call));
    add(r, r->data, ROWS * NEAR * sizeof *r->data);
    s.radius = 0;
    DO(pm_operator_new_(engine, &x, &s, &op, call));
    DO(pm_operator_apply_(op, &tiny, &out, call));
    DO(pm_operator_free_(op));
    add_matrix(r, &out);
}

static void models(results *r, pm_call *call) {
    pm_fit_settings f;
    pm_matrix out = matrix(r, ROWS, COLS);
    pm_model *model = NULL;
    memset(&f, 0, sizeof f);
    f.struct_size = sizeof f;
    f.recipe = "classic";
    f.unmeasured = 1;
    DO(pm_fit_(engine, &x, labels, &f, &model, call));
    DO(pm_model_rows_(model, &out));
    add_matrix(r, &out);
    DO(pm_model_apply_(engine, model, &x, &out, call));
    add_matrix(r, &out);
    DO(pm_model_free_(model));
}

static void releases(results *r, pm_call *call) {
    pm_private_settings p = private_settings();
    pm_settings s = settings();
    pm_matrix out = matrix(r, ROWS, 2);
    pm_release *release = NULL;
    size_t needed;
    DO(pm_sensitivity_(ROWS, COLS, &p, call));
    DO(pm_call_report_(call, r->report, sizeof r->report, &needed));
    add(r, r->report, needed);
    DO(pm_privatize_(engine, &x, NULL, &p, NULL, &release, call)); /* other noise each time */
    DO(pm_release_free_(release));
    DO(pm_release_read_(release_bytes, release_size, &release));
    s.sigma = 0.5;
    DO(pm_continue_(engine, release, NULL, &s, 0, &out, call));
    add_matrix(r, &out);
    DO(pm_release_free_(release));
}

/* Returns a hash of the results of the library, called by c in its mode. Afterwards the mode is that of a new
 * process. */
static uint32_t all(caller *c) {
    results *r = calloc(1, sizeof *r);
    unsigned told = c->told;
    uint32_t h;
    if (r == NULL) exit(2);
    r->hash = 2166136261u;
    pmc_set_mode(c->mode);
    embeddings(r, c->call);
    graphs(r, c->call);
    models(r, c->call);
    releases(r, c->call);
    pmc_set_mode(PMC_MODE);
    h = r->hash;
    free(r);
    if (c->told == told) {
        fprintf(stderr, "no progress was told\n");
        exit(1);
    }
    return h;
}

static void begin(caller *c, pmc_mode mode) {
    c->mode = mode;
    c->told = 0;
    DO(pm_call_new_(&c->call));
    DO(pm_call_on_progress_(c->call, progress, c));
}

typedef struct {
    pthread_t thread;
    pmc_mode mode;
    uint32_t hash;
} of_thread;

/* A thread of the program, which ends in another mode. */
static void *thread(void *data) {
    of_thread *t = data;
    caller c;
    begin(&c, t->mode);
    t->hash = all(&c);
    DO(pm_call_free_(c.call));
    pmc_set_mode(t->mode);
    return NULL;
}

/* Reads the release of a file, or makes one. */
static void open_release(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        pm_private_settings p = private_settings();
        pm_release *release = NULL;
        DO(pm_privatize_(engine, &x, NULL, &p, NULL, &release, NULL));
        DO(pm_release_write_(release, release_bytes, sizeof release_bytes, &release_size));
        DO(pm_release_free_(release));
        file = fopen(path, "wb");
        if (file == NULL || fwrite(release_bytes, 1, release_size, file) != release_size) exit(2);
    } else {
        release_size = fread(release_bytes, 1, sizeof release_bytes, file);
    }
    if (fclose(file) != 0) exit(2);
}

int main(int argc, char **argv) {
    static of_thread threads[MODES];
    pm_engine_options options;
    caller c;
    int i, mode = argc == 4 ? atoi(argv[2]) : -1;
    int first = mode, last = mode == 0 ? MODES : mode + 1; /* modes of callers */
    if (mode < 0 || mode >= MODES) return 2;
    fill();
    pmc_set_mode(modes[mode]);
    load(argv[1]);
    if (pmc_get_mode() != modes[mode]) return 3;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.workers = WORKERS;
    DO(pm_engine_new_(&options, &engine));
    if (pm_simd_level_()[0] == 0 || pmc_get_mode() != modes[mode]) return 3;
    pmc_set_mode(PMC_MODE);
    printf("%d\n", (int)MODES);
    open_release(argv[3]);
    begin(&c, PMC_MODE);
    printf("%08x after it was loaded\n", all(&c));
    for (i = first; i < last; i++) {
        threads[i].mode = modes[i];
        if (pthread_create(&threads[i].thread, NULL, thread, &threads[i]) != 0) return 2;
    }
    for (i = first; i < last; i++) {
        c.mode = modes[i];
        printf("%08x in mode %d, next to threads\n", all(&c), i);
    }
    for (i = first; i < last; i++) {
        if (pthread_join(threads[i].thread, NULL) != 0) return 2;
        printf("%08x in a thread in mode %d\n", threads[i].hash, i);
    }
    c.mode = PMC_MODE;
    printf("%08x afterwards\n", all(&c));
    DO(pm_call_free_(c.call));
    DO(pm_engine_free_(engine));
    return 0;
}
