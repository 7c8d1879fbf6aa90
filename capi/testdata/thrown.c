/* thrown.c: passes numbers, texts, shapes and handles in random combinations to every function that takes them. The
 * library always answers with a status, and never with PM_INTERNAL.
 *
 *   thrown FOLDER ROUNDS SEED
 *
 * FOLDER is one to write to. The seed decides the arguments. */
#include "pm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80, WIDE = 8, SETS = 8, STATUSES = PM_INTERNAL + 1 };

static float features[SETS][MOST * WIDE], to[MOST * 2 * WIDE], distances[MOST * MOST];
static int32_t labels[4][MOST];
static int64_t ids[MOST * MOST + 1];
static double released[MOST * MOST];
static char buffer[1 << 20];
static int counts[STATUSES], faults = 0;
static uint64_t state;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int one_in(uint64_t n) { return draw() % n == 0; }

#define PICK(list) ((list)[draw() % (sizeof(list) / sizeof((list)[0]))])

/* Counts a status, and reports a fault. */
static pm_status got(const char *name, pm_status status) {
    if (status < 0 || status >= PM_INTERNAL) {
        faults++;
        fprintf(stderr, "%s: status %d: %s\n", name, (int)status, pm_last_error());
        return status;
    }
    counts[status]++;
    return status;
}

static double number(void) {
    static const double list[] = {NAN, INFINITY, -INFINITY, -1, 1e-320, 1e-300, 1e300, 1e-30, 1e30, 3e-39, 1e-7, 1e-3, 0.5, 0.999999, 1, 2, 10, 1e18};
    return PICK(list);
}

static int64_t count(void) {
    static const int64_t list[] = {1, 2, 3, 5, MOST - 1, MOST, 1000, 0, -1, INT64_MAX, INT64_MIN};
    return PICK(list);
}

/* One of the names, which end with NULL, or another text. */
static const char *text(const char *const *names) {
    static const char *const wrong[] = {"", "nonsense", "\xff\xfe", NULL};
    size_t n = 0;
    if (one_in(12)) return PICK(wrong);
    while (names[n] != NULL) n++;
    return names[draw() % (n + 1)]; /* including NULL */
}
#define TEXT(...) text((const char *const[]){__VA_ARGS__, NULL})

/* Rows within the arrays above, or with a shape that must be refused before anything is read. */
static pm_rows rows_of(void) {
    static const int64_t ns[] = {1, 2, 3, 30, MOST}, ds[] = {1, 2, 3, WIDE};
    pm_rows x;
    x.data = features[one_in(2) ? 0 : draw() % SETS];
    x.rows = PICK(ns);
    x.cols = PICK(ds);
    x.stride = one_in(4) ? WIDE : x.cols;
    switch (draw() % 60) {
    case 0: x.rows = -1; break;
    case 1: x.rows = 0; break;
    case 2: x.cols = 0; break;
    case 3: x.stride = x.cols - 1; break;
    case 4: x.data = NULL; break;
    case 5: x.rows = INT64_MAX; break;
    case 6: x.rows = 2; x.stride = INT64_MAX; break;
    }
    return x;
}

static pm_matrix matrix_of(int64_t rows, int64_t cols) {
    pm_matrix m;
    m.data = to;
    m.rows = one_in(40) ? 0 : rows;
    m.cols = one_in(40) ? cols - 1 : cols;
    m.stride = m.cols;
    if (one_in(40) || m.rows < 0 || m.rows > MOST || m.cols < 0 || m.cols > 2 * WIDE) m.data = NULL;
    return m;
}

static const int32_t *some_labels(void) { return one_in(4) ? NULL : labels[draw() % 4]; }

static pm_settings settings_of(const pm_rows *start) {
    pm_settings s;
    memset(&s, 0, sizeof s);
    s.struct_size = one_in(60) ? draw() % sizeof s : sizeof s;
    switch (draw() % 8) {
    case 0: s.sigma = number(); break;
    case 1: s.gamma = number(); break;
    case 2: s.mean_neighbours = number(); break;
    case 3: s.neighbours = count(); break;
    case 4: s.radius = number(); break;
    case 5: s.radius = number(); s.sigma = number(); break;
    case 6: s.sigma = 0.5; s.cutoff_weight = number(); break;
    default: s.mean_neighbours = 5; break;
    }
    if (one_in(6)) s.tolerance = number();
    s.op = TEXT("csr", "pairs", "dense", "poly", "grid", "background");
    if (one_in(2)) s.op = NULL;
    s.isolated = TEXT("keep", "repair", "fail");
    s.normalize_rows = one_in(5);
    s.allow_unlabelled = one_in(4);
    s.form = TEXT("paper", "attract");
    if (one_in(2)) s.coefficient = number();
    s.table = TEXT("equal", "balanced", "different", "gaussian", "centred");
    if (one_in(3)) s.dim = count();
    s.steps = one_in(12) ? -1 : (int64_t)(draw() % 4);
    if (one_in(4)) s.sigma_q = number();
    if (one_in(4)) s.stop = number();
    s.normalize = TEXT("none", "frobenius", "centred");
    s.seed = draw();
    if (one_in(6)) s.start = start;
    return s;
}

static pm_private_settings private_settings_of(void) {
    static const int64_t list[] = {0, 1, 2, MOST};
    pm_private_settings s;
    memset(&s, 0, sizeof s);
    s.struct_size = sizeof s;
    s.epsilon = one_in(6) ? number() : 1;
    s.delta = one_in(6) ? number() : 1e-6;
    s.relation = TEXT("replace-one", "null", "features-replace", "features-null", "features-replace");
    s.label_mode = TEXT("public", "dropped", "randomised", "dropped");
    if (one_in(3)) s.label_epsilon = number();
    s.unit = TEXT("patients", "others");
    s.unit_kind = TEXT("record", "client");
    s.new_unit = one_in(9) ? 2 : 1;
    s.normalize_rows = !one_in(4);
    s.rest_public = one_in(6);
    s.uncounted = one_in(2);
    s.other_relation = one_in(9) ? 2 : one_in(2);
    if (one_in(4)) s.records = count();
    s.rule = TEXT("analytic", "classical");
    if (one_in(5)) s.gamma = number();
    else s.sigma = one_in(4) ? number() : 0.5;
    if (one_in(3)) s.alpha = number();
    s.table = TEXT("equal", "different", "gaussian");
    if (one_in(2)) s.classes = one_in(3) ? count() : 3;
    if (one_in(4)) s.dim = count();
    if (one_in(4)) s.sigma_q = number();
    s.op = TEXT("dense", "poly", "background");
    if (one_in(4)) s.radius = number();
    s.seed = draw();
    if (one_in(4)) {
        s.private_rows = one_in(5) ? NULL : list;
        s.private_count = one_in(4) ? INT64_MAX / 32 : (int64_t)(draw() % 6) - 1;
        if (s.private_count > 4) s.private_count = INT64_MAX / 32;
    }
    return s;
}

/* Changes bytes of a file half of the time: one bit, or their number. */
static size_t damaged(size_t size) {
    if (one_in(2) && size > 0) buffer[draw() % size] ^= (char)(1 << draw() % 7);
    return one_in(3) && size > 0 ? draw() % size : size;
}

static void throw_graph(pm_engine *engine, const pm_rows *x, const pm_settings *s, pm_call *call) {
    pm_graph *graph = NULL;
    pm_rows other = rows_of();
    if (got("graph_new", pm_graph_new(engine, x, s, &graph, call)) != PM_OK) return;
    got("graph_copy", pm_graph_copy(graph, one_in(5) ? 3 : one_in(2) ? 4 : 8, ids, NULL, distances));
    got("graph_distances", pm_graph_distances(engine, graph, x, distances, call));
    got("graph_distances", pm_graph_distances(engine, graph, &other, distances, call));
    got("graph_free", pm_graph_free(graph));
    if (got("graph_between", pm_graph_between(engine, x, &other, s, &graph, call)) != PM_OK) return;
    got("graph_copy", pm_graph_copy(graph, one_in(2) ? 4 : 8, ids, NULL, distances));
    got("graph_distances", pm_graph_distances(engine, graph, x, distances, call));
    got("graph_free", pm_graph_free(graph));
}

static void throw_operator(pm_engine *engine, const pm_rows *x, const pm_settings *s, pm_call *call) {
    pm_operator *op = NULL;
    pm_rows v = rows_of();
    pm_matrix out;
    if (got("operator_new", pm_operator_new(engine, x, s, &op, call)) != PM_OK) return;
    if (one_in(2)) v.rows = x->rows;
    out = matrix_of(v.rows, v.cols);
    got("operator_apply", pm_operator_apply(op, &v, &out, call));
    got("operator_free", pm_operator_free(op));
}

static void throw_model(pm_engine *engine, const pm_rows *x, pm_call *call) {
    pm_fit_settings s = {.struct_size = sizeof s, .seed = 1};
    pm_model *model = NULL, *again = NULL;
    pm_rows other = rows_of();
    pm_matrix out;
    int64_t rows = 0, input = 0, output = 0;
    size_t needed = 0;
    s.recipe = TEXT("classic", "raw", "root,unit-rows,discriminate", "discriminate", ",");
    s.normalize_rows = one_in(3);
    s.unmeasured = !one_in(4);
    if (got("fit", pm_fit(engine, x, some_labels(), &s, &model, call)) != PM_OK) return;
    got("model_size", pm_model_size(model, &rows, &input, &output));
    if (one_in(2)) other.cols = other.stride = input;
    out = matrix_of(other.rows, output);
    got("model_apply", pm_model_apply(engine, model, &other, &out, call));
    out = matrix_of(rows, output);
    got("model_rows", pm_model_rows(model, &out));
    got("model_describe", pm_model_describe(model, buffer, sizeof buffer, &needed));
    if (got("model_write", pm_model_write(model, buffer, one_in(9) ? 100 : sizeof buffer, &needed)) == PM_OK) {
        got("model_read", pm_model_read(buffer, damaged(needed), &again));
        got("model_free", pm_model_free(again));
    }
    got("model_free", pm_model_free(model));
}

static void throw_release(pm_engine *engine, const pm_rows *x, const pm_settings *later, pm_ledger *ledger, pm_call *call) {
    pm_private_settings s = private_settings_of();
    pm_release *release = NULL, *again = NULL;
    pm_matrix out;
    int64_t rows = 0, columns = 0;
    size_t needed = 0;
    got("privatize", pm_privatize(engine, x, some_labels(), &s, s.uncounted || one_in(9) ? NULL : ledger, &release, call));
    if (release == NULL) return;
    got("release_size", pm_release_size(release, &rows, &columns));
    if (rows * columns <= MOST * MOST) got("release_points", pm_release_points(release, released));
    got("release_describe", pm_release_describe(release, buffer, sizeof buffer, &needed));
    out = matrix_of(rows, columns);
    got("continue", pm_continue(engine, release, some_labels(), one_in(4) ? NULL : later, one_in(2), &out, call));
    if (got("release_write", pm_release_write(release, buffer, sizeof buffer, &needed)) == PM_OK) {
        got("release_read", pm_release_read(buffer, damaged(needed), &again));
        got("release_free", pm_release_free(again));
    }
    got("release_free", pm_release_free(release));
}

static void throw_once(pm_engine *engine, pm_ledger *ledger, pm_call *call) {
    pm_rows x = rows_of(), start = rows_of(), other = rows_of();
    pm_settings s = settings_of(&start);
    pm_matrix out = matrix_of(x.rows, one_in(2) ? x.cols : s.dim > 0 ? s.dim : 2);
    pm_private_settings p = private_settings_of();
    size_t needed = 0;
    switch (draw() % 12) {
    case 0: got("plan", pm_plan(engine, &x, &s, one_in(2), call)); break;
    case 1: got("embed", pm_embed(engine, &x, some_labels(), &s, &out, call)); break;
    case 2: got("converge", pm_converge(engine, &x, some_labels(), &s, &out, call)); break;
    case 3: got("map", pm_map(engine, &x, &s, &out, call)); break;
    case 4:
        out = matrix_of(other.rows, start.cols);
        got("extend", pm_extend(engine, &x, &start, &other, count(), &out, call));
        break;
    case 5: got("nearest", pm_nearest(engine, &x, one_in(2) ? NULL : &other, count(), one_in(9) ? 5 : one_in(2) ? 4 : 8, one_in(5) ? NULL : ids, one_in(5) ? NULL : distances, call)); break;
    case 6: throw_graph(engine, &x, &s, call); break;
    case 7: throw_operator(engine, &x, &s, call); break;
    case 8: throw_model(engine, &x, call); break;
    case 9: got("sensitivity", pm_sensitivity(count(), count(), &p, call)); break;
    default: throw_release(engine, &x, &s, ledger, call); break;
    }
    got("report", pm_call_report(call, buffer, one_in(9) ? 1 : sizeof buffer, &needed));
    got("reserve", pm_call_reserve(call, !one_in(9) ? 0 : one_in(2) ? 60 << 20 : INT64_MAX));
}

int main(int argc, char **argv) {
    static const float scales[SETS] = {1, 0, 1, 1e38f, 1e-42f, 1, 1e18f, 100};
    pm_engine_options options = {sizeof options, 2, 0, 64 << 20, NULL};
    pm_total total = {sizeof total, "gdp", 50, 1e-3, 0};
    pm_engine *engine = NULL;
    pm_ledger *ledger = NULL;
    pm_call *call = NULL;
    char path[4096];
    int i, set;
    if (argc != 4) return 2;
    state = 88172645463325252u + strtoull(argv[3], NULL, 10);
    for (set = 0; set < SETS; set++)
        for (i = 0; i < MOST * WIDE; i++) features[set][i] = scales[set] * (float)(draw() >> 40) / 16777216.0f;
    for (i = 0; i < MOST * WIDE; i++) features[2][i] = 3; /* all rows are equal */
    features[5][3] = NAN;
    for (i = 0; i < MOST; i++) {
        labels[0][i] = i % 3;
        labels[1][i] = i % 4 - 1;
        labels[3][i] = i == 1 ? INT32_MAX : i == 2 ? INT32_MIN : i;
    }
    snprintf(path, sizeof path, "%s/ledger", argv[1]);
    if (pm_engine_new(&options, &engine) || pm_call_new(&call) || pm_ledger_create(path, &total) || pm_ledger_open(path, NULL, &ledger)) {
        fprintf(stderr, "%s\n", pm_last_error());
        return 2;
    }
    for (i = atoi(argv[2]); i > 0; i--) throw_once(engine, ledger, call);
    for (i = 0; i < STATUSES; i++)
        if (counts[i] > 0) printf("%s %d\n", pm_status_name(i), counts[i]);
    if (pm_ledger_free(ledger) || pm_call_free(call) || pm_engine_free(engine)) return 2;
    return faults != 0;
}
