/* parts.c: neighbours, graphs, products and models of the rows of a file, for a test to compare.
 *
 *   parts INPUT OUTPUT MODEL
 *
 * writes all results to OUTPUT, one after the other, and a model to the file MODEL. It prints reports, one per
 * line. */
#include "input.h"
#include "want.h"

enum { K = 5, ASKED = 30, WIDE = 3 };

static FILE *out;

static void put(const void *data, size_t size, int64_t count) {
    if (fwrite(data, size, (size_t)count, out) != (size_t)count) exit(2);
}

static void report(pm_call *call) {
    size_t needed = 0;
    char *text;
    WANT(PM_OK, pm_call_report(call, NULL, 0, &needed));
    text = take(needed, 1);
    WANT(PM_OK, pm_call_report(call, text, needed, &needed));
    printf("%s\n", text);
    free(text);
}

static void nearest(pm_engine *engine, const pm_rows *x, const pm_rows *queries) {
    int64_t *ids = take((size_t)(x->rows * K), sizeof *ids);
    int32_t *small = take((size_t)(x->rows * K), sizeof *small);
    float *distances = take((size_t)(x->rows * K), sizeof *distances);
    WANT(PM_OK, pm_nearest(engine, x, NULL, K, 8, ids, distances, NULL));
    put(ids, sizeof *ids, x->rows * K);
    put(distances, sizeof *distances, x->rows * K);
    WANT(PM_OK, pm_nearest(engine, x, queries, K, 8, ids, NULL, NULL));
    WANT(PM_OK, pm_nearest(engine, x, queries, K, 8, NULL, distances, NULL));
    put(ids, sizeof *ids, queries->rows * K);
    put(distances, sizeof *distances, queries->rows * K);
    WANT(PM_OK, pm_nearest(engine, x, NULL, K, 4, small, distances, NULL));
    put(small, sizeof *small, x->rows * K);
    put(distances, sizeof *distances, x->rows * K);
    WANT(PM_OK, pm_nearest(engine, x, queries, K, 4, small, NULL, NULL));
    put(small, sizeof *small, queries->rows * K);
    free(distances);
    free(small);
    free(ids);
}

/* The rows themselves as queries: each has its entries in the graph with that radius, and its own. */
static void between(pm_engine *engine, const pm_rows *x, const pm_settings *s, int64_t nonzeros, pm_call *call) {
    pm_graph *g = NULL;
    int64_t rows = 0, entries = 0, i, e, *ptr, *ind;
    float *weights, *distances;
    WANT(PM_OK, pm_graph_between(engine, x, x, s, &g, call));
    WANT(PM_OK, pm_graph_size(g, &rows, &entries));
    TRUE(rows == x->rows && entries == nonzeros + rows);
    ptr = take((size_t)rows + 1, sizeof *ptr);
    ind = take((size_t)entries, sizeof *ind);
    weights = take((size_t)entries, sizeof *weights);
    distances = take((size_t)entries, sizeof *distances);
    WANT(PM_OK, pm_graph_copy(g, 8, ptr, ind, weights));
    WANT(PM_OK, pm_graph_distances(engine, g, x, distances, NULL));
    for (i = 0; i < rows; i++)
        for (e = ptr[i]; e < ptr[i + 1]; e++) TRUE(ind[e] != i || (weights[e] == 1 && distances[e] == 0));
    WANT(PM_OK, pm_graph_free(g));
    free(distances);
    free(weights);
    free(ind);
    free(ptr);
}

static void graph(pm_engine *engine, const pm_rows *x, pm_call *call) {
    pm_settings s = {.struct_size = sizeof s, .radius = 20};
    pm_graph *g = NULL;
    int64_t rows = 0, nonzeros = 0, i, *ptr, *ind;
    int32_t *ptr4, *ind4;
    float *weights;
    WANT(PM_OK, pm_graph_new(engine, x, &s, &g, call));
    report(call);
    WANT(PM_OK, pm_graph_size(g, &rows, NULL));
    WANT(PM_OK, pm_graph_size(g, NULL, &nonzeros));
    ptr = take((size_t)rows + 1, sizeof *ptr);
    ind = take((size_t)nonzeros, sizeof *ind);
    ptr4 = take((size_t)rows + 1, sizeof *ptr4);
    ind4 = take((size_t)nonzeros, sizeof *ind4);
    weights = take((size_t)nonzeros, sizeof *weights);
    ptr[0] = 9;
    WANT(PM_OK, pm_graph_copy(g, 8, ptr, ind, weights));
    put(ptr, sizeof *ptr, rows + 1);
    put(ind, sizeof *ind, nonzeros);
    put(weights, sizeof *weights, nonzeros);
    WANT(PM_OK, pm_graph_copy(g, 4, ptr4, NULL, NULL));
    WANT(PM_OK, pm_graph_copy(g, 4, NULL, ind4, NULL));
    for (i = 0; i <= rows; i++) TRUE(ptr4[i] == ptr[i]);
    for (i = 0; i < nonzeros; i++) TRUE(ind4[i] == ind[i]);
    WANT(PM_OK, pm_graph_distances(engine, g, x, weights, NULL));
    put(weights, sizeof *weights, nonzeros);
    WANT(PM_OK, pm_graph_free(g));
    WANT(PM_HANDLE, pm_graph_size(g, &rows, &nonzeros));
    between(engine, x, &s, nonzeros, call);
    free(weights);
    free(ind4);
    free(ptr4);
    free(ind);
    free(ptr);
}

static void operator_products(pm_engine *engine, const pm_rows *x, pm_call *call) {
    pm_settings s = {.struct_size = sizeof s, .sigma = 12, .tolerance = 1e-3};
    pm_operator *op = NULL;
    size_t entries = (size_t)(x->rows * x->cols);
    float *copy = take(entries, sizeof *copy), *product = take((size_t)x->rows * WIDE, sizeof *product);
    pm_rows moved = *x, v = *x;
    pm_matrix to = {product, x->rows, WIDE, WIDE};
    memcpy(copy, x->data, entries * sizeof *copy);
    moved.data = copy;
    v.cols = WIDE; /* the first columns of x, with its stride */
    WANT(PM_OK, pm_operator_new(engine, &moved, &s, &op, call));
    report(call);
    memset(copy, 0, entries * sizeof *copy); /* the rows are no longer used */
    WANT(PM_OK, pm_operator_apply(op, &v, &to, call));
    put(product, sizeof *product, x->rows * WIDE);
    WANT(PM_OK, pm_operator_free(op));
    WANT(PM_HANDLE, pm_operator_apply(op, &v, &to, NULL));
    free(product);
    free(copy);
}

static void extend(pm_engine *engine, const pm_rows *x, const pm_rows *queries) {
    float *placed = take((size_t)(queries->rows * WIDE), sizeof *placed);
    pm_rows embedding = *x;
    pm_matrix to = {placed, queries->rows, WIDE, WIDE};
    embedding.cols = WIDE;
    WANT(PM_OK, pm_extend(engine, x, &embedding, queries, 10, &to, NULL));
    put(placed, sizeof *placed, queries->rows * WIDE);
    free(placed);
}

/* The classes of a model of 10 digits, and its predictions with 5 voters and with the default. */
static void classes(pm_engine *engine, pm_model *model, const pm_rows *x) {
    int32_t labels[10], *told = take((size_t)x->rows, sizeof *told);
    float *shares = take((size_t)x->rows, sizeof *shares);
    size_t count = 0, needed = 0;
    char name[16];
    pm_matrix votes = {take((size_t)x->rows * 10, sizeof(float)), x->rows, 10, 10};
    WANT(PM_OK, pm_model_classes(model, NULL, 0, &count));
    TRUE(count == 10);
    WANT(PM_SIZE, pm_model_classes(model, labels, 9, &count));
    WANT(PM_OK, pm_model_classes(model, labels, 10, &count));
    TRUE(labels[0] == 0 && labels[9] == 9);
    WANT(PM_OK, pm_model_class_name(model, 7, name, sizeof name, &needed));
    TRUE(strcmp(name, "seven") == 0 && needed == 6);
    WANT(PM_LABELS, pm_model_class_name(model, 10, name, sizeof name, &needed));
    WANT(PM_OK, pm_model_predict(engine, model, x, 5, told, shares, &votes, NULL));
    put(told, sizeof *told, x->rows);
    put(shares, sizeof *shares, x->rows);
    put(votes.data, sizeof *votes.data, x->rows * 10);
    WANT(PM_OK, pm_model_predict(engine, model, x, 0, told, NULL, NULL, NULL));
    put(told, sizeof *told, x->rows);
    free(told);
    free(shares);
    free(votes.data);
}

/* The results of a model that are the same for equal models: rows, images, bytes. */
static void model_results(pm_engine *engine, pm_model *model, const pm_rows *x) {
    int64_t rows = 0, in = 0, columns = 0;
    size_t needed = 0;
    float *z;
    pm_matrix to;
    char *text;
    WANT(PM_OK, pm_model_size(model, &rows, &in, &columns));
    TRUE(rows == x->rows && in == x->cols);
    z = take((size_t)(rows * columns), sizeof *z);
    to.data = z;
    to.rows = rows;
    to.cols = to.stride = columns;
    WANT(PM_OK, pm_model_rows(model, &to));
    put(z, sizeof *z, rows * columns);
    WANT(PM_OK, pm_model_apply(engine, model, x, &to, NULL));
    put(z, sizeof *z, rows * columns);
    classes(engine, model, x);
    WANT(PM_OK, pm_model_describe(model, NULL, 0, &needed));
    text = take(needed, 1);
    WANT(PM_SIZE, pm_model_describe(model, text, needed - 1, &needed));
    WANT(PM_OK, pm_model_describe(model, text, needed, &needed));
    printf("%s\n", text);
    free(text);
    free(z);
}

/* The number of times that the process has a file mapped. */
static int mapped(const char *path) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[8192];
    int count = 0;
    if (maps == NULL) exit(2);
    while (fgets(line, sizeof line, maps) != NULL) count += strstr(line, path) != NULL;
    fclose(maps);
    return count;
}

static void models(pm_engine *engine, const input *in, const char *path, pm_call *call) {
    static const char names[] = "{\"classes\": [\"zero\", \"one\", \"two\", \"three\", \"four\", \"five\", \"six\", \"seven\", \"eight\", \"nine\"]}";
    pm_fit_settings s = {.struct_size = sizeof s, .recipe = "classic", .unmeasured = 1, .names = names, .names_size = sizeof names - 1};
    pm_model *fitted = NULL, *opened = NULL, *read = NULL;
    size_t needed = 0, again = 0;
    char *bytes;
    WANT(PM_OK, pm_fit(engine, &in->x, in->labels, &s, &fitted, call));
    report(call);
    WANT(PM_OK, pm_model_save(fitted, path, call));
    WANT(PM_OK, pm_model_write(fitted, NULL, 0, &needed));
    bytes = take(needed, 1);
    WANT(PM_SIZE, pm_model_write(fitted, bytes, needed - 1, &again));
    TRUE(again == needed);
    WANT(PM_OK, pm_model_write(fitted, bytes, needed, &again));
    put(bytes, 1, (int64_t)needed);
    WANT(PM_OK, pm_model_open(path, &opened));
    WANT(PM_OK, pm_model_read(bytes, needed, &read));
    memset(bytes, 0, needed); /* the model has its own copy */
    model_results(engine, fitted, &in->x);
    model_results(engine, opened, &in->x);
    model_results(engine, read, &in->x);
    WANT(PM_FILE, pm_model_read(bytes, needed, &read));
    WANT(PM_OK, pm_model_free(fitted));
    TRUE(mapped(path) > 0);
    WANT(PM_OK, pm_model_free(opened));
    TRUE(mapped(path) == 0);
    WANT(PM_OK, pm_model_free(read));
    WANT(PM_HANDLE, pm_model_free(read));
    free(bytes);
}

int main(int argc, char **argv) {
    pm_engine_options options = {.struct_size = sizeof options, .workers = 3};
    pm_engine *engine = NULL;
    pm_call *call = NULL;
    pm_rows queries;
    input in;
    if (argc != 4 || (out = fopen(argv[2], "wb")) == NULL) return 2;
    in = read_input(argv[1]);
    queries = in.x;
    queries.rows = ASKED;
    WANT(PM_OK, pm_engine_new(&options, &engine));
    WANT(PM_OK, pm_call_new(&call));
    nearest(engine, &in.x, &queries);
    graph(engine, &in.x, call);
    operator_products(engine, &in.x, call);
    extend(engine, &in.x, &queries);
    models(engine, &in, argv[3], call);
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
    free(in.labels);
    free((void *)in.x.data);
    if (fclose(out) != 0) return 2;
    return ended();
}
