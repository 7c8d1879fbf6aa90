/* every.c: calls every function of pm.h with one wrong argument at a time: NaN and infinities, absurd sizes, flags
 * that are neither 0 nor 1, NULL, memory that is not aligned, and results that overlap arguments or each other.
 * None gives a fault of the library, and the text of an error names a wrong setting. The calls are made in
 * different floating-point modes, which they do not change.
 *
 *   every FOLDER
 *
 * It works in the folder: some wrong texts are paths of files that can be written. It prints failures, and how many
 * calls it made of each function. */
#define _POSIX_C_SOURCE 200809L
#include "../mode.h"
#include "want.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 60, COLS = 4, CLASSES = 3, NEAR = 3 };

/* The arguments of a function. Each call gets a copy. */
typedef struct {
    pm_rows x, embedding, queries, v;
    pm_matrix out, wide, placed, rows_out, votes;
    const int32_t *labels;
    int32_t *told;
    float *shares;
    pm_settings s, later;
    pm_fit_settings f;
    pm_private_settings p;
    pm_engine_options o;
    pm_total t;
    int64_t k, n, d, bytes;
    int32_t index_bytes, map, use_coefficient;
    void *ids, *indptr, *indices, *buffer;
    float *distances, *weights;
    double *points;
    size_t size, *needed;
    const char *path, *unit, *unit_kind, *head;
    const void *model_bytes, *release_bytes;
    size_t model_size, release_size;
    pm_engine *engine;
    pm_call *call;
    pm_graph *graph;
    pm_operator *op;
    pm_model *model;
    pm_release *release;
    pm_ledger *ledger;
} arguments;

static float points[ROWS * COLS], vector[ROWS], embedding[ROWS * 2], written[4 * ROWS * ROWS + 1];
static int32_t labels[ROWS], told[ROWS];
static float shares[ROWS], table[ROWS * CLASSES + 1];
static int64_t private_rows[2] = {2, 7}, indices[ROWS * ROWS], ids[ROWS * NEAR], indptr[ROWS + 1];
static float weights[ROWS * ROWS], distances[ROWS * ROWS];
static double released[ROWS * COLS];
static char buffer[1 << 16], model_bytes[1 << 20], release_bytes[1 << 20];
static const char ledger_path[] = "ledger", other_path[] = "other", new_path[] = "new", model_path[] = "model";
static const char names[] = "{\"classes\": [\"ant\", \"bee\", \"fly\"], \"columns\": [\"a\", \"b\", \"c\", \"d\"]}";
static size_t needed;
static arguments good, a;

/* ---- The functions ---------------------------------------------------------------------- */

static pm_status engine_new(void) { pm_engine *e = NULL; pm_status s = pm_engine_new(&a.o, &e); pm_engine_free(e); return s; }
static pm_status engine_workers(void) { int32_t w; return pm_engine_workers(a.engine, &w); }
static pm_status call_reserve(void) { pm_status s = pm_call_reserve(a.call, a.bytes); pm_call_reserve(good.call, 0); return s; }
static pm_status call_report(void) { return pm_call_report(a.call, a.buffer, a.size, a.needed); }
static pm_status plan(void) { return pm_plan(a.engine, &a.x, &a.s, a.map, a.call); }
static pm_status embed(void) { return pm_embed(a.engine, &a.x, a.labels, &a.s, &a.out, a.call); }
static pm_status converge(void) { return pm_converge(a.engine, &a.x, a.labels, &a.s, &a.out, a.call); }
static pm_status map(void) { return pm_map(a.engine, &a.x, &a.s, &a.out, a.call); }
static pm_status extend(void) { return pm_extend(a.engine, &a.x, &a.embedding, &a.queries, a.k, &a.out, a.call); }
static pm_status nearest(void) { return pm_nearest(a.engine, &a.x, &a.queries, a.k, a.index_bytes, a.ids, a.distances, a.call); }
static pm_status graph_new(void) { pm_graph *g = NULL; pm_status s = pm_graph_new(a.engine, &a.x, &a.s, &g, a.call); pm_graph_free(g); return s; }
static pm_status graph_between(void) { pm_graph *g = NULL; pm_status s = pm_graph_between(a.engine, &a.x, &a.queries, &a.s, &g, a.call); pm_graph_free(g); return s; }
static pm_status graph_size(void) { return pm_graph_size(a.graph, &a.n, &a.d); }
static pm_status graph_copy(void) { return pm_graph_copy(a.graph, a.index_bytes, a.indptr, a.indices, a.weights); }
static pm_status graph_distances(void) { return pm_graph_distances(a.engine, a.graph, &a.x, a.distances, a.call); }
static pm_status operator_new(void) { pm_operator *o = NULL; pm_status s = pm_operator_new(a.engine, &a.x, &a.later, &o, a.call); pm_operator_free(o); return s; }
static pm_status operator_apply(void) { return pm_operator_apply(a.op, &a.v, &a.wide, a.call); }
static pm_status fit(void) { pm_model *m = NULL; pm_status s = pm_fit(a.engine, &a.x, a.labels, &a.f, &m, a.call); pm_model_free(m); return s; }
static pm_status model_open(void) { pm_model *m = NULL; pm_status s = pm_model_open(a.path, &m); pm_model_free(m); return s; }
static pm_status model_save(void) { return pm_model_save(a.model, a.path, a.call); }
static pm_status model_write(void) { return pm_model_write(a.model, a.buffer, a.size, a.needed); }
static pm_status model_read(void) { pm_model *m = NULL; pm_status s = pm_model_read(a.model_bytes, a.model_size, &m); pm_model_free(m); return s; }
static pm_status model_size(void) { return pm_model_size(a.model, &a.n, NULL, &a.d); }
static pm_status model_rows(void) { return pm_model_rows(a.model, &a.rows_out); }
static pm_status model_apply(void) { return pm_model_apply(a.engine, a.model, &a.x, &a.placed, a.call); }
static pm_status model_classes(void) { return pm_model_classes(a.model, a.told, a.size, a.needed); }
static pm_status model_class_name(void) { return pm_model_class_name(a.model, 1, a.buffer, a.size, a.needed); }
static pm_status model_predict(void) { return pm_model_predict(a.engine, a.model, &a.x, a.k, a.told, a.shares, &a.votes, a.call); }
static pm_status model_describe(void) { return pm_model_describe(a.model, a.buffer, a.size, a.needed); }
static pm_status sensitivity(void) { return pm_sensitivity(a.n, a.d, &a.p, a.call); }
static pm_status privatize(void) { pm_release *r = NULL; pm_status s = pm_privatize(a.engine, &a.x, a.labels, &a.p, a.ledger, &r, a.call); pm_release_free(r); return s; }
static pm_status release_write(void) { return pm_release_write(a.release, a.buffer, a.size, a.needed); }
static pm_status release_read(void) { pm_release *r = NULL; pm_status s = pm_release_read(a.release_bytes, a.release_size, &r); pm_release_free(r); return s; }
static pm_status release_size(void) { return pm_release_size(a.release, &a.n, &a.d); }
static pm_status release_points(void) { return pm_release_points(a.release, a.points); }
static pm_status release_describe(void) { return pm_release_describe(a.release, a.buffer, a.size, a.needed); }
static pm_status later_steps(void) { return pm_continue(a.engine, a.release, a.labels, &a.later, a.use_coefficient, &a.out, a.call); }
static pm_status ledger_create(void) { pm_status s = pm_ledger_create(a.path, &a.t); remove(new_path); return s; }
static pm_status ledger_open(void) { pm_ledger *l = NULL; pm_status s = pm_ledger_open(a.path, a.head, &l); pm_ledger_free(l); return s; }
static pm_status ledger_describe(void) { return pm_ledger_describe(a.ledger, a.unit, a.unit_kind, a.buffer, a.size, a.needed); }

/* ---- Possible mistakes ------------------------------------------------------------------ */

/* The kinds of an argument. */
enum { NUMBER, FLAG, COUNT, STEPS, TEXT, ROWS_OF, MATRIX, MEMORY, SIZE, SMALL_COUNT, HANDLE, STRUCT_SIZE, BYTES };

typedef struct {
    const char *name;
    int kind;
    size_t at;
} part;

#define AT(kind, field) {#field, kind, offsetof(arguments, field)}
#define OF(group, kind, field) {#field, kind, offsetof(arguments, group.field)}
#define OUT(field) {"out", MATRIX, offsetof(arguments, field)}
#define END {NULL, 0, 0}

#define SETTINGS(s) \
    OF(s, STRUCT_SIZE, struct_size), OF(s, NUMBER, sigma), OF(s, NUMBER, gamma), OF(s, NUMBER, mean_neighbours), OF(s, COUNT, neighbours), \
    OF(s, NUMBER, radius), OF(s, NUMBER, cutoff_weight), OF(s, NUMBER, tolerance), OF(s, TEXT, op), OF(s, TEXT, isolated), \
    OF(s, FLAG, normalize_rows), OF(s, FLAG, allow_unlabelled), OF(s, TEXT, form), OF(s, NUMBER, coefficient), OF(s, TEXT, table), \
    OF(s, COUNT, dim), OF(s, STEPS, steps), OF(s, NUMBER, sigma_q), OF(s, NUMBER, stop), OF(s, TEXT, normalize)
#define PRIVATE \
    OF(p, STRUCT_SIZE, struct_size), OF(p, NUMBER, epsilon), OF(p, NUMBER, delta), OF(p, TEXT, relation), OF(p, TEXT, label_mode), OF(p, TEXT, unit), \
    OF(p, NUMBER, label_epsilon), OF(p, TEXT, unit_kind), OF(p, FLAG, new_unit), OF(p, FLAG, normalize_rows), \
    OF(p, FLAG, rest_public), OF(p, FLAG, uncounted), OF(p, COUNT, records), OF(p, TEXT, rule), OF(p, NUMBER, sigma), OF(p, NUMBER, gamma), \
    OF(p, NUMBER, alpha), OF(p, TEXT, table), OF(p, COUNT, classes), OF(p, COUNT, dim), OF(p, NUMBER, sigma_q), OF(p, TEXT, op), \
    OF(p, NUMBER, radius), OF(p, MEMORY, private_rows), OF(p, COUNT, private_count), OF(p, FLAG, other_relation)
#define CALL AT(HANDLE, engine), AT(HANDLE, call)
#define TEXT_OUT AT(MEMORY, buffer), AT(SIZE, size), AT(MEMORY, needed)

static const part of_engine_new[] = {OF(o, STRUCT_SIZE, struct_size), OF(o, SMALL_COUNT, workers), OF(o, FLAG, measure), OF(o, COUNT, max_memory), OF(o, TEXT, level), END};
static const part of_engine[] = {AT(HANDLE, engine), END};
static const part of_reserve[] = {AT(HANDLE, call), AT(COUNT, bytes), END};
static const part of_report[] = {AT(HANDLE, call), TEXT_OUT, END};
static const part of_plan[] = {CALL, AT(ROWS_OF, x), SETTINGS(s), AT(FLAG, map), END};
static const part of_embed[] = {CALL, AT(ROWS_OF, x), AT(MEMORY, labels), SETTINGS(s), OUT(out), END};
static const part of_extend[] = {CALL, AT(ROWS_OF, x), AT(ROWS_OF, embedding), AT(ROWS_OF, queries), AT(COUNT, k), OUT(out), END};
static const part of_nearest[] = {CALL, AT(ROWS_OF, x), AT(ROWS_OF, queries), AT(COUNT, k), AT(SMALL_COUNT, index_bytes), AT(MEMORY, ids), AT(MEMORY, distances), END};
static const part of_graph_new[] = {CALL, AT(ROWS_OF, x), SETTINGS(s), END};
static const part of_graph_between[] = {CALL, AT(ROWS_OF, x), AT(ROWS_OF, queries), SETTINGS(s), END};
static const part of_graph[] = {AT(HANDLE, graph), END};
static const part of_graph_copy[] = {AT(HANDLE, graph), AT(SMALL_COUNT, index_bytes), AT(MEMORY, indptr), AT(MEMORY, indices), AT(MEMORY, weights), END};
static const part of_distances[] = {CALL, AT(HANDLE, graph), AT(ROWS_OF, x), AT(MEMORY, distances), END};
static const part of_operator_new[] = {CALL, AT(ROWS_OF, x), SETTINGS(later), END};
static const part of_apply[] = {AT(HANDLE, op), AT(HANDLE, call), AT(ROWS_OF, v), OUT(wide), END};
static const part of_fit[] = {CALL, AT(ROWS_OF, x), AT(MEMORY, labels), OF(f, STRUCT_SIZE, struct_size), OF(f, TEXT, recipe), OF(f, FLAG, normalize_rows), OF(f, FLAG, unmeasured), OF(f, BYTES, names), OF(f, SIZE, names_size), OF(f, TEXT, goal), END};
static const part of_path[] = {AT(TEXT, path), END};
static const part of_save[] = {AT(HANDLE, model), AT(TEXT, path), AT(HANDLE, call), END};
static const part of_model_text[] = {AT(HANDLE, model), TEXT_OUT, END};
static const part of_model_read[] = {AT(BYTES, model_bytes), AT(SIZE, model_size), END};
static const part of_model[] = {AT(HANDLE, model), END};
static const part of_model_rows[] = {AT(HANDLE, model), OUT(rows_out), END};
static const part of_model_apply[] = {CALL, AT(HANDLE, model), AT(ROWS_OF, x), OUT(placed), END};
static const part of_classes[] = {AT(HANDLE, model), {"labels", MEMORY, offsetof(arguments, told)}, AT(SIZE, size), AT(MEMORY, needed), END};
static const part of_predict[] = {CALL, AT(HANDLE, model), AT(ROWS_OF, x), AT(COUNT, k), {"labels", MEMORY, offsetof(arguments, told)},
                                  AT(MEMORY, shares), AT(MATRIX, votes), END};
static const part of_sensitivity[] = {AT(COUNT, n), AT(COUNT, d), PRIVATE, AT(HANDLE, call), END};
static const part of_privatize[] = {CALL, AT(ROWS_OF, x), AT(MEMORY, labels), PRIVATE, AT(HANDLE, ledger), END};
static const part of_release_text[] = {AT(HANDLE, release), TEXT_OUT, END};
static const part of_release_read[] = {AT(BYTES, release_bytes), AT(SIZE, release_size), END};
static const part of_release[] = {AT(HANDLE, release), END};
static const part of_release_points[] = {AT(HANDLE, release), AT(MEMORY, points), END};
static const part of_later[] = {CALL, AT(HANDLE, release), AT(MEMORY, labels), SETTINGS(later), AT(FLAG, use_coefficient), OUT(out), END};
static const part of_create[] = {AT(TEXT, path), OF(t, STRUCT_SIZE, struct_size), OF(t, TEXT, kind), OF(t, NUMBER, epsilon), OF(t, NUMBER, delta), OF(t, NUMBER, pure_epsilon), END};
static const part of_open[] = {AT(TEXT, path), AT(TEXT, head), END};
static const part of_describe[] = {AT(HANDLE, ledger), AT(TEXT, unit), AT(TEXT, unit_kind), TEXT_OUT, END};

/* A function, its arguments, and those that it writes to. */
typedef struct {
    const char *name;
    pm_status (*call)(void);
    const part *parts;
    const char *writes;
    void (*prepare)(void); /* changes good arguments into those of this function */
} function;

static void two_columns(void) { a.out.cols = a.out.stride = 2; }
static void asked(void) { two_columns(); a.out.rows = 5; }
static void spectral(void) { two_columns(); a.s.mean_neighbours = 0; a.s.neighbours = 8; a.s.coefficient = 0; a.labels = NULL; }
static void saved(void) { a.path = model_path; }
static void large(void) { a.buffer = model_bytes; a.size = sizeof model_bytes; }
static void large_release(void) { a.buffer = release_bytes; a.size = sizeof release_bytes; }
static void few(void) { a.size = CLASSES; }
static void fresh(void) { a.path = new_path; }
static void there(void) { a.path = other_path; }
static void chosen_rows(void) { a.p.private_rows = private_rows; a.p.private_count = 2; a.p.other_relation = 1; }
static void within_radius(void) { memset(&a.s, 0, sizeof a.s); a.s.struct_size = sizeof a.s; a.s.radius = 0.5; a.s.sigma = 0.5; }

static const function functions[] = {
    {"pm_engine_new", engine_new, of_engine_new, "", NULL},
    {"pm_engine_workers", engine_workers, of_engine, "", NULL},
    {"pm_call_reserve", call_reserve, of_reserve, "", NULL},
    {"pm_call_report", call_report, of_report, "buffer", NULL},
    {"pm_plan", plan, of_plan, "", NULL},
    {"pm_embed", embed, of_embed, "out", NULL},
    {"pm_converge", converge, of_embed, "out", spectral},
    {"pm_map", map, of_embed, "out", spectral},
    {"pm_extend", extend, of_extend, "out", asked},
    {"pm_nearest", nearest, of_nearest, "ids distances", NULL},
    {"pm_graph_new", graph_new, of_graph_new, "", NULL},
    {"pm_graph_between", graph_between, of_graph_between, "", within_radius},
    {"pm_graph_size", graph_size, of_graph, "", NULL},
    {"pm_graph_copy", graph_copy, of_graph_copy, "indptr indices weights", NULL},
    {"pm_graph_distances", graph_distances, of_distances, "distances", NULL},
    {"pm_operator_new", operator_new, of_operator_new, "", NULL},
    {"pm_operator_apply", operator_apply, of_apply, "out", NULL},
    {"pm_fit", fit, of_fit, "", NULL},
    {"pm_model_open", model_open, of_path, "", saved},
    {"pm_model_save", model_save, of_save, "", saved},
    {"pm_model_write", model_write, of_model_text, "buffer", large},
    {"pm_model_read", model_read, of_model_read, "", NULL},
    {"pm_model_size", model_size, of_model, "", NULL},
    {"pm_model_rows", model_rows, of_model_rows, "out", NULL},
    {"pm_model_apply", model_apply, of_model_apply, "out", NULL},
    {"pm_model_classes", model_classes, of_classes, "labels", few},
    {"pm_model_class_name", model_class_name, of_model_text, "buffer", NULL},
    {"pm_model_predict", model_predict, of_predict, "labels shares votes", NULL},
    {"pm_model_describe", model_describe, of_model_text, "buffer", NULL},
    {"pm_sensitivity", sensitivity, of_sensitivity, "", chosen_rows},
    {"pm_privatize", privatize, of_privatize, "", chosen_rows},
    {"pm_release_write", release_write, of_release_text, "buffer", large_release},
    {"pm_release_read", release_read, of_release_read, "", NULL},
    {"pm_release_size", release_size, of_release, "", NULL},
    {"pm_release_points", release_points, of_release_points, "points", NULL},
    {"pm_release_describe", release_describe, of_release_text, "buffer", NULL},
    {"pm_continue", later_steps, of_later, "out", two_columns},
    {"pm_ledger_create", ledger_create, of_create, "", fresh},
    {"pm_ledger_open", ledger_open, of_open, "", there},
    {"pm_ledger_describe", ledger_describe, of_describe, "buffer", NULL},
};

static const function *now;
static unsigned calls;

static void begin(const function *f) {
    now = f;
    a = good;
    if (f->prepare != NULL) f->prepare();
}

/* Calls the function in one floating-point mode after the other: a way to round, small numbers as 0, exceptions as
 * signals if the processor has them. */
static pm_status in_some_mode(void) {
#if defined(__x86_64__)
    static const pmc_mode modes[] = {0xffc0, 0, 0xa040};
#else
    static const pmc_mode modes[] = {3ul << 24, 7ul << 22, 1ul << 23};
#endif
    pmc_mode before = pmc_get_mode(), mode = modes[calls % 3], after;
    pm_status status;
    pmc_set_mode(mode);
    status = now->call();
    after = pmc_get_mode();
    pmc_set_mode(before);
    if (after != mode) {
        failures++;
        fprintf(stderr, "%s: called in mode %lx, left in %lx\n", now->name, (unsigned long)mode, (unsigned long)after);
    }
    return status;
}

/* Calls the function with its changed arguments. An expected error names the argument. */
static void attempt(const char *name, const char *what, int must_fail, int must_name) {
    pm_status status = in_some_mode();
    calls++;
    if (status == PM_INTERNAL || pm_status_name(status)[0] == 0 || (must_fail && status == PM_OK) ||
        (must_name && status != PM_OK && strstr(pm_last_error(), name) == NULL)) {
        failures++;
        fprintf(stderr, "%s, %s %s: %s (%s)\n", now->name, name, what, pm_status_name(status), status == PM_OK ? "" : pm_last_error());
    }
}

#define PLACE(type, p) ((type *)(void *)((char *)&a + (p)->at))
#define TRY(p, type, value, what, must_fail, must_name) do { \
        begin(f); \
        *PLACE(type, p) = (value); \
        attempt((p)->name, what, must_fail, must_name); \
    } while (0)

static void numbers(const function *f, const part *p) {
    static const struct { const char *text, *what; int none; } bad[] = {
        {"nan", "NaN", 1}, {"inf", "infinity", 1}, {"-inf", "-infinity", 1}, {"-1", "-1", 0}, {"1e308", "1e308", 0}, {"-1e308", "-1e308", 0}, {"5e-324", "5e-324", 0}, {"1e-300", "1e-300", 0}};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) TRY(p, double, strtod(bad[i].text, NULL), bad[i].what, bad[i].none, bad[i].none);
}

static void sizes_of(const function *f, const part *p, size_t at) {
    static const int64_t bad[] = {0, -1, INT64_MIN, INT64_MAX, INT64_MAX / 4, INT64_MAX / 16, INT64_C(1) << 62};
    part field = *p;
    size_t i;
    field.at += at;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) TRY(&field, int64_t, bad[i], "has an absurd size", i > 0 && at != offsetof(pm_rows, stride), 0);
}

/* Rows, or a matrix: both have the same layout. */
static void shapes(const function *f, const part *p) {
    begin(f);
    sizes_of(f, p, offsetof(pm_rows, rows));
    sizes_of(f, p, offsetof(pm_rows, cols));
    sizes_of(f, p, offsetof(pm_rows, stride));
    begin(f);
    PLACE(pm_rows, p)->data = NULL;
    attempt(p->name, "is NULL", 1, 1);
    begin(f);
    PLACE(pm_rows, p)->data = (const float *)(const void *)((const char *)PLACE(pm_rows, p)->data + 1);
    attempt(p->name, "is not aligned", 1, 1);
    begin(f); /* no columns, and memory for them */
    PLACE(pm_rows, p)->cols = PLACE(pm_rows, p)->stride = 0;
    attempt(p->name, "has no columns", 1, 0);
    begin(f);
    memset(PLACE(pm_rows, p), 0, sizeof(pm_rows));
    attempt(p->name, "is zeros", 1, 0);
}

static void wrong(const function *f, const part *p) {
    static const int32_t flags[] = {2, -1, INT32_MAX, INT32_MIN};
    static const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_C(1) << 62, INT64_C(1) << 40, INT64_C(1) << 32};
    static const char not_utf8[] = {'a', (char)0xff, 0};
    static char endless[1 << 17];
    size_t i;
    switch (p->kind) {
    case NUMBER: numbers(f, p); break;
    case FLAG:
        for (i = 0; i < sizeof flags / sizeof flags[0]; i++) TRY(p, int32_t, flags[i], "is neither 0 nor 1", 1, 1);
        break;
    case COUNT: for (i = 0; i < sizeof counts / sizeof counts[0]; i++) TRY(p, int64_t, counts[i], "is absurd", counts[i] < 0, 0); break;
    case STEPS: TRY(p, int64_t, -1, "is absurd", 1, 1); break; /* many steps take long and are not a mistake */
    case SMALL_COUNT: for (i = 0; i < sizeof flags / sizeof flags[0]; i++) TRY(p, int32_t, flags[i], "is absurd", flags[i] < 0, 0); break;
    case SIZE: /* no machine has that much memory, so only sizes below the real one */
        TRY(p, size_t, 0, "is 0", 1, 0);
        TRY(p, size_t, 1, "is 1", 1, 0);
        break;
    case STRUCT_SIZE:
        TRY(p, size_t, 0, "is 0", 1, 1);
        TRY(p, size_t, (size_t)-1, "is absurd", 1, 1);
        break;
    case TEXT:
        memset(endless, 'a', sizeof endless - 1);
        TRY(p, const char *, not_utf8, "is not UTF-8", 1, 1);
        TRY(p, const char *, endless, "is endless", 1, 1);
        TRY(p, const char *, "?", "is ?", 0, 0);
        TRY(p, const char *, "", "is empty", 0, 0);
        TRY(p, const char *, NULL, "is NULL", 0, 0);
        break;
    case HANDLE:
        TRY(p, void *, (void *)points, "is no handle", 1, 0);
        TRY(p, void *, NULL, "is NULL", 0, 0);
        break;
    case BYTES:
    case MEMORY:
        TRY(p, void *, NULL, "is NULL", 0, 0);
        begin(f);
        if (p->kind == MEMORY && strcmp(p->name, "buffer") != 0 && *PLACE(void *, p) != NULL) {
            *PLACE(char *, p) += 1;
            attempt(p->name, "is not aligned", 1, 1);
        }
        break;
    default: shapes(f, p);
    }
}

/* The memory of an argument, NULL if the argument has no memory. */
static char *memory_of(const part *p) {
    switch (p->kind) {
    case ROWS_OF:
    case MATRIX: return (char *)(void *)(uintptr_t)PLACE(pm_rows, p)->data;
    case MEMORY:
    case BYTES: return *PLACE(char *, p);
    }
    return NULL;
}

static int writes(const function *f, const part *p) {
    const char *found = strstr(f->writes, p->name);
    size_t n = strlen(p->name);
    return found != NULL && (found == f->writes || found[-1] == ' ') && (found[n] == 0 || found[n] == ' ');
}

/* Moves the memory that p writes to that of q, and to four bytes after it. */
static void overlap(const function *f, const part *p, const part *q) {
    int shift;
    for (shift = 0; shift <= 4; shift += 4) {
        char *other;
        begin(f);
        other = memory_of(q);
        if (other == NULL || memory_of(p) == NULL) return;
        if (p->kind == MATRIX) PLACE(pm_matrix, p)->data = (float *)(void *)(other + shift);
        else *PLACE(char *, p) = other + shift;
        attempt(q->name, "shares memory with a result", 1, 0);
    }
}

static void all_of(const function *f) {
    const part *p, *q;
    calls = 0;
    begin(f);
    attempt("everything", "is as it should be", 0, 0);
    {
        pm_status status;
        begin(f);
        status = now->call();
        if (status != PM_OK) {
            failures++;
            fprintf(stderr, "%s: %s (%s), want PM_OK\n", f->name, pm_status_name(status), pm_last_error());
            return;
        }
    }
    for (p = f->parts; p->name != NULL; p++) wrong(f, p);
    for (p = f->parts; p->name != NULL; p++)
        for (q = f->parts; q->name != NULL; q++)
            if (p != q && writes(f, p)) overlap(f, p, q);
    printf("%s %u\n", f->name, calls);
}

/* ---- Valid arguments ------------------------------------------------------------- */

static pm_rows rows_of(const float *data, int64_t rows, int64_t cols) {
    pm_rows r;
    r.data = data;
    r.rows = rows;
    r.cols = r.stride = cols;
    return r;
}

static pm_matrix matrix_of(float *data, int64_t rows, int64_t cols) {
    pm_matrix m;
    m.data = data;
    m.rows = rows;
    m.cols = m.stride = cols;
    return m;
}

static void prepare(void) {
    static const char *units = "somebody";
    uint32_t state = 1;
    int i;
    for (i = 0; i < ROWS * COLS; i++) {
        state = state * 1664525u + 1013904223u;
        points[i] = (float)(state >> 8) / 16777216.0f;
    }
    for (i = 0; i < ROWS; i++) {
        labels[i] = i % CLASSES;
        vector[i] = (float)i;
    }
    good.x = rows_of(points, ROWS, COLS);
    good.embedding = rows_of(embedding, ROWS, 2);
    good.queries = rows_of(points + 8 * COLS, 5, COLS);
    good.v = rows_of(vector, ROWS, 1);
    good.out = matrix_of(written, ROWS, COLS);
    good.wide = matrix_of(written, ROWS, 1);
    good.labels = labels;
    good.told = told;
    good.shares = shares;
    good.votes = matrix_of(table, ROWS, CLASSES);
    good.s.struct_size = good.later.struct_size = sizeof good.s;
    good.s.mean_neighbours = 8;
    good.s.form = "attract";
    good.s.coefficient = 1;
    good.later.sigma = 0.5;
    good.f.struct_size = sizeof good.f;
    good.f.recipe = "classic";
    good.f.unmeasured = 1;
    good.f.names = names;
    good.f.names_size = sizeof names - 1;
    good.o.struct_size = sizeof good.o;
    good.o.workers = 1;
    good.t.struct_size = sizeof good.t;
    good.t.kind = "mixed";
    good.t.epsilon = 100;
    good.t.delta = 1e-5;
    good.t.pure_epsilon = 10;
    good.p.struct_size = sizeof good.p;
    good.p.epsilon = 0.1;
    good.p.delta = 1e-6;
    good.p.relation = "features-replace";
    good.p.label_mode = "public";
    good.p.unit = units;
    good.p.new_unit = 1;
    good.p.normalize_rows = 1;
    good.p.sigma = 0.5;
    good.p.alpha = 0.25;
    good.p.sigma_q = 1;
    good.p.classes = CLASSES;
    good.k = NEAR;
    good.n = ROWS;
    good.d = COLS;
    good.bytes = 1000;
    good.index_bytes = 8;
    good.ids = ids;
    good.indptr = indptr;
    good.indices = indices;
    good.weights = weights;
    good.distances = distances;
    good.points = released;
    good.buffer = buffer;
    good.size = sizeof buffer;
    good.needed = &needed;
    good.unit = units;
    WANT(PM_OK, pm_engine_new(&good.o, &good.engine));
    WANT(PM_OK, pm_call_new(&good.call));
    WANT(PM_OK, pm_graph_new(good.engine, &good.x, &good.s, &good.graph, NULL));
    WANT(PM_OK, pm_operator_new(good.engine, &good.x, &good.later, &good.op, NULL));
    WANT(PM_OK, pm_fit(good.engine, &good.x, labels, &good.f, &good.model, NULL));
    WANT(PM_OK, pm_model_save(good.model, model_path, NULL));
    WANT(PM_OK, pm_ledger_create(ledger_path, &good.t));
    WANT(PM_OK, pm_ledger_create(other_path, &good.t));
    WANT(PM_OK, pm_ledger_open(ledger_path, NULL, &good.ledger));
    WANT(PM_OK, pm_privatize(good.engine, &good.x, labels, &good.p, good.ledger, &good.release, NULL));
    {
        int64_t output = 0;
        WANT(PM_OK, pm_model_size(good.model, NULL, NULL, &output));
        good.placed = good.rows_out = matrix_of(written, ROWS, output);
    }
    good.model_bytes = model_bytes;
    good.release_bytes = release_bytes;
    WANT(PM_OK, pm_model_write(good.model, model_bytes, sizeof model_bytes, &good.model_size));
    WANT(PM_OK, pm_release_write(good.release, release_bytes, sizeof release_bytes, &good.release_size));
}

/* Mistakes whose status matters. */
static void statuses(void) {
    float none[1] = {0};
    begin(&functions[0]);
    a.p.records = ROWS + 1;
    WANT_TEXT(PM_SETTING, "records", sensitivity());
    WANT_TEXT(PM_SETTING, "records", privatize());
    a = good;
    a.embedding = rows_of(none, ROWS, 0);
    a.embedding.stride = 2;
    a.out = matrix_of(written, 5, 2);
    WANT_TEXT(PM_SHAPE, "columns", extend());
    a.out.cols = 0;
    WANT_TEXT(PM_SHAPE, "out", extend());
    a = good;
    a.s.start = &a.x;
    a.out.data = points;
    WANT_TEXT(PM_SHAPE, "share memory", embed());
    a.x = rows_of(embedding, ROWS, 2);
    a.s.start = &good.x;
    a.out.cols = COLS;
    WANT_TEXT(PM_SHAPE, "start", embed());
    WANT_TEXT(PM_SHAPE, "share memory", pm_graph_size(good.graph, &a.n, &a.n));
    WANT_TEXT(PM_SHAPE, "share memory", pm_model_size(good.model, &a.n, &a.d, &a.n));
    WANT_TEXT(PM_SIZE, "room", pm_model_classes(good.model, told, CLASSES - 1, &needed));
    TRUE(needed == CLASSES);
    WANT_TEXT(PM_LABELS, "label", pm_model_class_name(good.model, CLASSES, buffer, sizeof buffer, &needed));
    WANT_TEXT(PM_SETTING, "voters", pm_model_predict(good.engine, good.model, &good.x, -1, told, NULL, NULL, NULL));
    a = good;
    a.votes.cols--;
    WANT_TEXT(PM_SHAPE, "x 3", model_predict());
    a = good;
    a.f.names = "{\"classes\": [\"ant\", \"ant\", \"bee\"]}";
    a.f.names_size = strlen(a.f.names);
    WANT_TEXT(PM_LABELS, "class 1", fit());
    a.f.names_size = strlen(a.f.names = "{\"classes\": [\"ant\", \"bee\"]}");
    WANT_TEXT(PM_LABELS, "row 3", fit());
    a.f.names_size = strlen(a.f.names = "{\"columns\": [\"a\"]}");
    WANT_TEXT(PM_SHAPE, "names", fit());
    WANT_TEXT(PM_SHAPE, "share memory", pm_release_size(good.release, &a.n, &a.n));
    WANT_TEXT(PM_ARGUMENT, "rows", pm_release_size(good.release, (int64_t *)(void *)(buffer + 1), &a.n));
}

int main(int argc, char **argv) {
    size_t i;
    if (argc != 2 || chdir(argv[1]) != 0) return 2;
    prepare();
    if (failures == 0)
        for (i = 0; i < sizeof functions / sizeof functions[0]; i++) all_of(&functions[i]);
    if (failures == 0) statuses();
    return ended();
}
