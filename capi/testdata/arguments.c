/* arguments.c: the answers of the library to wrong arguments. */
#include "checks.h"

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

/* Invalid addresses, which some languages use for arrays without entries, are never read. Go ends a process if it
 * finds one on a stack that grows, which may happen in each call. */
static void addresses(void) {
    static const uintptr_t all[] = {1, 2, 4, 8, 4095};
    pm_engine *engine = engine_of(1, 0);
    pm_call *call = new_call();
    pm_settings s = settings();
    static float z[ROWS * COLS];
    pm_matrix out = {NULL, ROWS, COLS, COLS}, bad_out;
    pm_rows none = {NULL, 0, COLS, COLS}, bad;
    pm_model *model = NULL;
    pm_release *release = NULL;
    pm_private_settings p;
    size_t needed;
    int i;
    memset(&p, 0, sizeof p);
    p.struct_size = sizeof p;
    p.epsilon = p.sigma = 0.5;
    p.delta = 1e-6;
    p.sigma_q = 1;
    p.relation = "replace-one";
    p.label_mode = "dropped";
    p.normalize_rows = p.uncounted = 1;
    out.data = z;
    s.mean_neighbours = 5;
    for (i = 0; i < (int)(sizeof all / sizeof all[0]); i++) {
        void *at = (void *)all[i];
        none.data = bad_out.data = at;
        bad = none;
        bad.rows = bad_out.rows = ROWS;
        bad_out.cols = bad_out.stride = COLS;
        WANT(PM_OK, pm_nearest(engine, &x, &none, 1, 8, at, at, NULL));
        WANT(PM_ARGUMENT, pm_nearest(engine, &x, NULL, 1, 8, at, NULL, NULL));
        WANT(PM_ARGUMENT, pm_nearest(engine, &x, NULL, 1, 4, NULL, at, NULL));
        WANT(PM_ARGUMENT, pm_embed(engine, &bad, NULL, &s, &out, NULL));
        WANT(PM_ARGUMENT, pm_embed(engine, &x, NULL, &s, &bad_out, NULL));
        WANT(PM_ARGUMENT, pm_embed(engine, &x, at, &s, &out, NULL));
        WANT(PM_ARGUMENT, pm_fit(engine, &x, at, NULL, &model, NULL));
        WANT(PM_SIZE, pm_call_report(call, at, 0, &needed));
        TRUE(needed == strlen("{}") + 1);
        WANT(PM_ARGUMENT, pm_call_report(call, at, 1, &needed));
        WANT(PM_FILE, pm_model_read(at, 0, &model));
        WANT(PM_ARGUMENT, pm_model_read(at, 1, &model));
        WANT(PM_ARGUMENT, pm_release_read(at, 1, &release));
        p.private_rows = at;
        p.private_count = 2;
        WANT(PM_ARGUMENT, pm_privatize(engine, &x, NULL, &p, NULL, &release, NULL));
    }
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
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
    start.rows = 0; /* and not the default start */
    WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    start.data = NULL;
    WANT(PM_SHAPE, pm_embed(engine, &x, NULL, &s, &out, NULL));
    s.start = NULL;
    out.stride = 2 * COLS; /* numbers between rows stay */
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
    REFUSED(PM_SETTING, s.dim = INT64_MIN);
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
    options.max_memory = -1;
    WANT(PM_SETTING, pm_engine_new(&options, &none));
    options.max_memory = 0;
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
    TRUE(second != engine); /* numbers are not reused */
    WANT(PM_HANDLE, pm_engine_free(engine));
    WANT(PM_HANDLE, embed(engine, z, NULL));
    WANT(PM_HANDLE, pm_engine_workers(engine, &workers));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_HANDLE, pm_call_free(call));
    WANT(PM_HANDLE, embed(second, z, call));
    WANT(PM_OK, pm_engine_free(second));
}

static void limits(void) {
    pm_engine *engine = engine_of(1, 64 << 20), *tiny = engine_of(1, 1000);
    pm_call *call = new_call();
    float z[ROWS * COLS];
    size_t report = 0, after = 0;
    WANT(PM_MEMORY, embed(tiny, z, NULL));
    WANT(PM_OK, embed(engine, z, call));
    WANT(PM_OK, pm_call_report(call, NULL, 0, &report));
    WANT(PM_MEMORY, embed(tiny, z, call));
    WANT(PM_OK, pm_call_report(call, NULL, 0, &after));
    TRUE(report > sizeof "{}" && report == after); /* the report of the last one that succeeded */
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

int main(int argc, char **argv) {
    static const check checks[] = {{"nulls", nulls}, {"addresses", addresses}, {"shapes", shapes}, {"settings", wrong_settings}, {"handles", handles}, {"limits", limits}};
    return run_check(checks, sizeof checks / sizeof checks[0], argc, argv);
}
