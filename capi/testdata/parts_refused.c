/* parts_refused.c: the answers of neighbours, graphs, products and models to wrong arguments.
 *
 *   parts_refused FOLDER
 *
 * FOLDER is one to write to. */
#include "want.h"

enum { ROWS = 60, COLS = 3, K = 4 };

static float data[ROWS * COLS], to[ROWS * ROWS];
static int32_t labels[ROWS];
static int64_t ids[ROWS * ROWS];
static const pm_rows x = {data, ROWS, COLS, COLS};
static const pm_matrix out = {to, ROWS, COLS, COLS};

static void fill(void) {
    uint32_t state = 1;
    int i;
    for (i = 0; i < ROWS * COLS; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(state >> 8) / 16777216.0f;
    }
    for (i = 0; i < ROWS; i++) labels[i] = i % 3;
}

static void nearest(pm_engine *engine, pm_graph *graph) {
    const pm_rows none = {NULL, 0, 0, 0}, empty = {NULL, 0, COLS, COLS}, narrow = {data, ROWS, COLS, COLS - 1}, other = {data, ROWS, 2, COLS};
    const pm_rows huge = {data, INT64_MAX / 8, COLS, COLS}, negative = {data, -1, COLS, COLS};
    int i;
    WANT(PM_HANDLE, pm_nearest(NULL, &x, NULL, K, 8, ids, to, NULL));
    WANT(PM_HANDLE, pm_nearest((pm_engine *)graph, &x, NULL, K, 8, ids, to, NULL));
    WANT(PM_HANDLE, pm_nearest(engine, &x, NULL, K, 8, ids, to, (pm_call *)graph));
    WANT(PM_ARGUMENT, pm_nearest(engine, NULL, NULL, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &none, NULL, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &negative, NULL, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &narrow, NULL, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &huge, NULL, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, NULL, 0, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, NULL, -1, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, NULL, ROWS, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, NULL, INT64_MAX, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, &other, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, &huge, K, 8, ids, to, NULL));
    WANT(PM_ARGUMENT, pm_nearest(engine, &x, NULL, K, 8, (char *)ids + 1, to, NULL));
    WANT(PM_ARGUMENT, pm_nearest(engine, &x, NULL, K, 4, (char *)ids + 2, to, NULL));
    WANT(PM_ARGUMENT, pm_nearest(engine, &x, NULL, K, 0, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, NULL, 2, 8, ids, data, NULL)); /* results must not overlap the rows that
                                                                            are read */
    WANT(PM_SHAPE, pm_nearest(engine, &x, NULL, 2, 4, data, to, NULL));
    WANT(PM_ARGUMENT, pm_nearest(engine, &x, NULL, K, 2, NULL, to, NULL));
    for (i = 0; i < ROWS * K; i++) ids[i] = -7;
    WANT(PM_OK, pm_nearest(engine, &x, &empty, K, 8, ids, to, NULL));
    WANT(PM_SHAPE, pm_nearest(engine, &x, &none, K, 8, ids, to, NULL)); /* and not x itself */
    for (i = 0; i < ROWS * K; i++) TRUE(ids[i] == -7);
    WANT(PM_OK, pm_nearest(engine, &x, NULL, K, 8, NULL, NULL, NULL));
}

static void extend(pm_engine *engine) {
    const pm_rows fewer = {data, ROWS - 1, COLS, COLS};
    const pm_matrix narrow = {to, ROWS, COLS - 1, COLS}, inside = {data, ROWS, COLS, COLS}, none = {NULL, ROWS, COLS, COLS};
    WANT(PM_OK, pm_extend(engine, &x, &x, &x, K, &out, NULL));
    WANT(PM_ARGUMENT, pm_extend(engine, &x, &x, NULL, K, &out, NULL));
    WANT(PM_ARGUMENT, pm_extend(engine, &x, NULL, &x, K, &out, NULL));
    WANT(PM_ARGUMENT, pm_extend(engine, &x, &x, &x, K, NULL, NULL));
    WANT(PM_ARGUMENT, pm_extend(engine, &x, &x, &x, K, &none, NULL));
    WANT(PM_SHAPE, pm_extend(engine, &x, &fewer, &x, K, &out, NULL));
    WANT(PM_SHAPE, pm_extend(engine, &x, &x, &x, K, &narrow, NULL));
    WANT(PM_SHAPE, pm_extend(engine, &x, &x, &x, K, &inside, NULL));
    WANT(PM_SHAPE, pm_extend(engine, &x, &x, &x, ROWS + 1, &out, NULL));
    WANT(PM_SETTING, pm_extend(engine, &x, &x, &x, -1, &out, NULL));
}

static void graphs(pm_engine *engine, pm_graph *graph, pm_call *call) {
    pm_settings both = {.struct_size = sizeof both, .radius = 1, .neighbours = 3}, dense = {.struct_size = sizeof dense, .sigma = 1, .op = "dense"};
    pm_settings radius = {.struct_size = sizeof radius, .radius = 1};
    pm_settings negative = {.struct_size = sizeof negative, .radius = -1}, nothing = {.struct_size = sizeof nothing};
    const pm_rows fewer = {data, ROWS - 1, COLS, COLS}, narrow = {data, ROWS, 0, COLS}, inside = {to, ROWS, COLS, COLS};
    pm_graph *g = graph;
    WANT(PM_SETTING, pm_graph_new(engine, &x, &both, &g, call));
    WANT(PM_SETTING, pm_graph_new(engine, &x, &negative, &g, NULL));
    WANT(PM_SETTING, pm_graph_new(engine, &x, &dense, &g, NULL));
    WANT(PM_SETTING, pm_graph_new(engine, &x, &nothing, &g, NULL));
    WANT(PM_ARGUMENT, pm_graph_new(engine, &x, NULL, &g, NULL));
    WANT(PM_ARGUMENT, pm_graph_new(engine, &x, &both, NULL, NULL));
    WANT(PM_SETTING, pm_graph_between(engine, &x, &x, &both, &g, call));
    WANT(PM_SETTING, pm_graph_between(engine, &x, &x, &nothing, &g, NULL));
    WANT(PM_ARGUMENT, pm_graph_between(engine, &x, &x, NULL, &g, NULL));
    WANT(PM_ARGUMENT, pm_graph_between(engine, &x, NULL, &radius, &g, NULL));
    WANT(PM_ARGUMENT, pm_graph_between(engine, NULL, &x, &radius, &g, NULL));
    WANT(PM_ARGUMENT, pm_graph_between(engine, &x, &x, &radius, NULL, NULL));
    WANT(PM_SHAPE, pm_graph_between(engine, &x, &narrow, &radius, &g, NULL));
    WANT(PM_HANDLE, pm_graph_between(NULL, &x, &x, &radius, &g, NULL));
    TRUE(g == graph); /* as it was */
    WANT(PM_OK, pm_graph_size(graph, NULL, NULL));
    WANT(PM_OK, pm_graph_copy(graph, 8, NULL, NULL, NULL));
    ids[0] = -7;
    WANT(PM_OK, pm_graph_copy(graph, 8, ids, NULL, NULL));
    TRUE(ids[0] == 0 && ids[ROWS] > 0); /* all of it is written */
    WANT(PM_ARGUMENT, pm_graph_copy(graph, 2, ids, ids, to));
    WANT(PM_ARGUMENT, pm_graph_copy(graph, 8, (char *)ids + 4, NULL, NULL));
    WANT(PM_HANDLE, pm_graph_copy((pm_graph *)engine, 8, ids, ids, to));
    WANT(PM_HANDLE, pm_graph_copy(NULL, 8, ids, ids, to));
    WANT(PM_ARGUMENT, pm_graph_distances(engine, graph, &x, NULL, NULL));
    WANT(PM_ARGUMENT, pm_graph_distances(engine, graph, NULL, to, NULL));
    WANT(PM_SHAPE, pm_graph_distances(engine, graph, &fewer, to, NULL));
    WANT(PM_SHAPE, pm_graph_distances(engine, graph, &narrow, to, NULL));
    WANT(PM_SHAPE, pm_graph_distances(engine, graph, &inside, to, NULL));
    WANT(PM_HANDLE, pm_graph_distances(engine, (pm_graph *)engine, &x, to, NULL));
    WANT(PM_OK, pm_graph_free(NULL));
    WANT(PM_HANDLE, pm_graph_free((pm_graph *)engine));
}

static void operators(pm_engine *engine) {
    pm_settings s = {.struct_size = sizeof s, .sigma = 1}, cut = {.struct_size = sizeof cut, .sigma = 1, .radius = 1};
    pm_engine *gone = NULL;
    pm_operator *op = NULL, *orphan = NULL;
    const pm_rows fewer = {data, ROWS - 1, COLS, COLS};
    const pm_matrix narrow = {to, ROWS, COLS - 1, COLS}, inside = {data, ROWS, COLS, COLS};
    WANT(PM_SETTING, pm_operator_new(engine, &x, &cut, &op, NULL));
    WANT(PM_ARGUMENT, pm_operator_new(engine, &x, &s, NULL, NULL));
    WANT(PM_OK, pm_operator_new(engine, &x, &s, &op, NULL));
    WANT(PM_OK, pm_operator_apply(op, &x, &out, NULL));
    WANT(PM_SHAPE, pm_operator_apply(op, &fewer, &out, NULL));
    WANT(PM_SHAPE, pm_operator_apply(op, &x, &narrow, NULL));
    WANT(PM_SHAPE, pm_operator_apply(op, &x, &inside, NULL));
    WANT(PM_ARGUMENT, pm_operator_apply(op, NULL, &out, NULL));
    WANT(PM_HANDLE, pm_operator_apply((pm_operator *)engine, &x, &out, NULL));
    WANT(PM_OK, pm_operator_free(op));
    WANT(PM_HANDLE, pm_operator_free(op));
    WANT(PM_OK, pm_operator_free(NULL));
    WANT(PM_OK, pm_engine_new(NULL, &gone));
    WANT(PM_OK, pm_operator_new(gone, &x, &s, &orphan, NULL));
    WANT(PM_OK, pm_engine_free(gone));
    WANT(PM_HANDLE, pm_operator_apply(orphan, &x, &out, NULL));
    WANT(PM_OK, pm_operator_free(orphan));
}

static void models(pm_engine *engine, const char *folder) {
    pm_fit_settings s = {.struct_size = sizeof s, .recipe = "raw", .unmeasured = 1}, bad = {.struct_size = sizeof bad, .recipe = "best"};
    pm_fit_settings small = {.struct_size = 4};
    pm_model *model = NULL, *none = NULL;
    const pm_rows two = {data, ROWS, 2, 2};
    const pm_matrix fewer = {to, ROWS - 1, COLS, COLS}, inside = {data, ROWS, COLS, COLS};
    char path[4096];
    size_t needed = 0;
    WANT(PM_ARGUMENT, pm_fit(engine, &x, NULL, &s, &none, NULL));
    WANT(PM_ARGUMENT, pm_fit(engine, &x, labels, &s, NULL, NULL));
    WANT(PM_ARGUMENT, pm_fit(engine, &x, labels, &small, &none, NULL));
    WANT(PM_SETTING, pm_fit(engine, &x, labels, &bad, &none, NULL));
    labels[0] = -2;
    WANT(PM_LABELS, pm_fit(engine, &x, labels, &s, &none, NULL));
    labels[0] = 0;
    WANT(PM_OK, pm_fit(engine, &x, labels, NULL, &model, NULL)); /* all defaults */
    WANT(PM_OK, pm_model_free(model));
    WANT(PM_OK, pm_fit(engine, &x, labels, &s, &model, NULL));
    WANT(PM_OK, pm_model_size(model, NULL, NULL, NULL));
    WANT(PM_SHAPE, pm_model_rows(model, &fewer));
    WANT(PM_ARGUMENT, pm_model_rows(model, NULL));
    WANT(PM_SHAPE, pm_model_apply(engine, model, &two, &out, NULL));
    WANT(PM_SHAPE, pm_model_apply(engine, model, &x, &fewer, NULL));
    WANT(PM_SHAPE, pm_model_apply(engine, model, &x, &inside, NULL));
    WANT(PM_HANDLE, pm_model_apply(engine, (pm_model *)engine, &x, &out, NULL));
    WANT(PM_ARGUMENT, pm_model_write(model, NULL, 0, NULL));
    WANT(PM_ARGUMENT, pm_model_write(model, NULL, 8, &needed));
    WANT(PM_SIZE, pm_model_write(model, to, 0, &needed));
    WANT(PM_ARGUMENT, pm_model_describe(model, NULL, 0, NULL));
    WANT(PM_ARGUMENT, pm_model_save(model, NULL, NULL));
    WANT(PM_ARGUMENT, pm_model_save(model, "", NULL));
    WANT(PM_ARGUMENT, pm_model_save(model, "\xff", NULL));
    snprintf(path, sizeof path, "%s/none/model", folder);
    WANT(PM_SYSTEM, pm_model_save(model, path, NULL));
    WANT(PM_SYSTEM, pm_model_open(path, &none));
    WANT(PM_ARGUMENT, pm_model_open(NULL, &none));
    WANT(PM_ARGUMENT, pm_model_open(path, NULL));
    WANT(PM_FILE, pm_model_read("not a model", 11, &none));
    WANT(PM_FILE, pm_model_read(NULL, 0, &none));
    WANT(PM_ARGUMENT, pm_model_read(NULL, 8, &none));
    WANT(PM_ARGUMENT, pm_model_read(to, sizeof to, NULL));
    TRUE(none == NULL);
    WANT(PM_HANDLE, pm_model_free((pm_model *)engine));
    WANT(PM_OK, pm_model_free(model));
    WANT(PM_OK, pm_model_free(NULL));
}

/* A file of a model with one flipped bit is refused, wherever the bit is. */
static void damaged(pm_engine *engine, const char *folder) {
    enum { BITS = 300, MOST = 1 << 16 };
    pm_fit_settings s = {.struct_size = sizeof s, .recipe = "classic", .unmeasured = 1};
    pm_model *model = NULL, *none = NULL;
    static char bytes[MOST];
    size_t size = 0;
    char path[4096];
    FILE *file;
    int i;
    snprintf(path, sizeof path, "%s/damaged.model", folder);
    WANT(PM_OK, pm_fit(engine, &x, labels, &s, &model, NULL));
    WANT(PM_OK, pm_model_write(model, bytes, sizeof bytes, &size));
    WANT(PM_OK, pm_model_free(model));
    for (i = 0; i < BITS; i++) {
        size_t at = (size_t)i * (size - 1) / (BITS - 1);
        bytes[at] = (char)(bytes[at] ^ 1 << i % 8);
        file = fopen(path, "wb");
        TRUE(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
        WANT(PM_FILE, pm_model_open(path, &none));
        TRUE(none == NULL && strstr(pm_last_error(), path) != NULL);
        TRUE(at < 16 || strstr(pm_last_error(), "damaged") != NULL); /* before that, it is not recognised as a
                                                                        model */
        bytes[at] = (char)(bytes[at] ^ 1 << i % 8);
    }
}

/* Rows of a file that was overwritten or truncated are neither returned nor saved. */
static void changed(pm_engine *engine, const char *folder) {
    enum { MOST = 1 << 16 };
    pm_fit_settings s = {.struct_size = sizeof s, .recipe = "classic", .unmeasured = 1};
    pm_model *fitted = NULL, *model = NULL;
    static char bytes[MOST], before[MOST];
    size_t size = 0, needed = 0;
    char path[4096], other[4096];
    int64_t columns = 0;
    pm_matrix rows = {to, ROWS, 0, 0};
    FILE *file;
    int cut;
    snprintf(path, sizeof path, "%s/changed.model", folder);
    snprintf(other, sizeof other, "%s/other.model", folder);
    WANT(PM_OK, pm_fit(engine, &x, labels, &s, &fitted, NULL));
    WANT(PM_OK, pm_model_write(fitted, before, sizeof before, &size));
    for (cut = 0; cut < 2; cut++) {
        WANT(PM_OK, pm_model_save(fitted, path, NULL));
        WANT(PM_OK, pm_model_save(fitted, other, NULL));
        WANT(PM_OK, pm_model_open(path, &model));
        WANT(PM_OK, pm_model_size(model, NULL, NULL, &columns));
        rows.cols = rows.stride = columns;
        WANT(PM_OK, pm_model_rows(model, &rows));
        WANT(PM_OK, pm_model_write(model, bytes, sizeof bytes, &needed));
        TRUE(needed == size && memcmp(bytes, before, size) == 0);
        file = fopen(path, cut ? "wb" : "rb+"); /* wb cuts it to nothing */
        TRUE(file != NULL);
        if (!cut) TRUE(fseek(file, (long)size / 2, SEEK_SET) == 0 && fwrite("damaged", 1, 7, file) == 7);
        TRUE(fclose(file) == 0);
        WANT(PM_FILE, pm_model_rows(model, &rows));
        WANT(PM_FILE, pm_model_write(model, bytes, sizeof bytes, &needed));
        WANT(PM_FILE, pm_model_save(model, other, NULL));
        TRUE(strstr(pm_last_error(), path) != NULL);
        rows.rows = 1;
        { /* the map is in memory */
            const pm_rows one = {data, 1, COLS, COLS};
            WANT(PM_OK, pm_model_apply(engine, model, &one, &rows, NULL));
        }
        rows.rows = ROWS;
        WANT(PM_OK, pm_model_free(model));
        WANT(PM_OK, pm_model_open(other, &model)); /* as it was */
        WANT(PM_OK, pm_model_free(model));
    }
    WANT(PM_OK, pm_model_free(fitted));
}

int main(int argc, char **argv) {
    pm_settings s = {.struct_size = sizeof s, .radius = 0.3};
    pm_engine *engine = NULL;
    pm_graph *graph = NULL;
    pm_call *call = NULL;
    if (argc != 2) return 2;
    fill();
    WANT(PM_OK, pm_engine_new(NULL, &engine));
    WANT(PM_OK, pm_call_new(&call));
    WANT(PM_OK, pm_graph_new(engine, &x, &s, &graph, NULL));
    nearest(engine, graph);
    extend(engine);
    graphs(engine, graph, call);
    operators(engine);
    models(engine, argv[1]);
    damaged(engine, argv[1]);
    changed(engine, argv[1]);
    WANT(PM_OK, pm_call_cancel(call));
    WANT(PM_CANCELLED, pm_nearest(engine, &x, NULL, K, 8, ids, to, call));
    WANT(PM_OK, pm_graph_free(graph));
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
    return ended();
}
