/* fields.c: every field of the settings, one at a time.
 *
 *   fields INPUT
 *
 * prints a line for each: the report, and a checksum of the embedding. A test in Go knows the expected lines. */
#include "input.h"
#include "want.h"

static pm_engine *engine;
static pm_call *call;
static input in;
static float *z;

static void print_report(uint32_t sum) {
    size_t needed = 0;
    char *text;
    WANT(PM_OK, pm_call_report(call, NULL, 0, &needed));
    text = take(needed, 1);
    WANT(PM_OK, pm_call_report(call, text, needed, &needed));
    printf("%s\t%08x\n", text, (unsigned)sum);
    free(text);
}

static void embed(pm_settings s) {
    const pm_matrix out = {z, in.x.rows, s.dim, s.dim};
    const unsigned char *bytes = (const unsigned char *)z;
    uint32_t sum = 2166136261u; /* FNV-1a */
    size_t i;
    WANT(PM_OK, pm_embed(engine, &in.x, in.labels, &s, &out, call));
    for (i = 0; i < (size_t)(in.x.rows * s.dim) * sizeof *z; i++) sum = (sum ^ bytes[i]) * 16777619u;
    print_report(sum);
}

static void assess(pm_private_settings s) {
    WANT(PM_OK, pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    print_report(0);
}

static void fit(pm_fit_settings s) {
    pm_model *model = NULL;
    WANT(PM_OK, pm_fit(engine, &in.x, in.labels, &s, &model, call));
    print_report(0);
    WANT(PM_OK, pm_model_free(model));
}

/* Makes a release with the settings and prints its report, which is its description. */
static void describe(pm_private_settings s) {
    pm_release *release = NULL;
    WANT(PM_OK, pm_privatize(engine, &in.x, in.labels, &s, NULL, &release, call));
    print_report(0);
    WANT(PM_OK, pm_release_free(release));
}

int main(int argc, char **argv) {
    const pm_engine_options options = {.struct_size = sizeof options, .workers = 2};
    const pm_settings planned = {.struct_size = sizeof planned, .sigma = 20, .dim = 2};
    pm_rows start;
    const int64_t rows[] = {2, 7};
    if (argc != 2) return 2;
    in = read_input(argv[1]);
    z = take((size_t)(in.x.rows * in.x.cols), sizeof *z);
    start = in.x;
    start.cols = 3;
    WANT(PM_OK, pm_engine_new(&options, &engine));
    WANT(PM_OK, pm_call_new(&call));
    WANT(PM_OK, pm_plan(engine, &in.x, &planned, 0, call));
    print_report(0);
    WANT(PM_OK, pm_plan(engine, &in.x, &planned, 1, call));
    print_report(0);
#define EMBED(change) \
    do { \
        pm_settings s = {.struct_size = sizeof s, .sigma = 20, .coefficient = 0.5, .dim = 3, .steps = 4, .seed = 7}; \
        change; \
        embed(s); \
    } while (0)
    EMBED((void)0);
    EMBED((s.sigma = 0, s.gamma = 0.002));
    EMBED((s.sigma = 0, s.mean_neighbours = 9));
    EMBED((s.sigma = 0, s.neighbours = 7));
    EMBED(s.radius = 25);
    EMBED(s.cutoff_weight = 0.05);
    EMBED((s.sigma = 8, s.op = "csr", s.tolerance = 0.01));
    EMBED((s.sigma = 8, s.op = "csr"));
    EMBED((s.sigma = 0, s.mean_neighbours = 1));
    EMBED((s.sigma = 0, s.mean_neighbours = 1, s.isolated = "repair"));
    EMBED((s.sigma = 0.4, s.normalize_rows = 1));
    EMBED(s.coefficient = -0.25);
    EMBED(s.table = "gaussian");
    EMBED(s.dim = 2);
    EMBED(s.steps = 2);
    EMBED(s.sigma_q = 1e-4);
    EMBED(s.seed = 8);
    EMBED(s.stop = 0.5);
    EMBED(s.normalize = "centred");
    EMBED(s.start = &start);
#define ASSESS(change) \
    do { \
        pm_private_settings s = {.struct_size = sizeof s, .epsilon = 1, .delta = 1e-6, .relation = "replace-one", .sigma = 0.5, .sigma_q = 1, \
                                 .seed = 3, .alpha = 0.5, .classes = 10}; \
        change; \
        assess(s); \
    } while (0)
    ASSESS((void)0);
    ASSESS(s.epsilon = 2);
    ASSESS(s.delta = 1e-5);
    ASSESS(s.relation = "features-replace");
    ASSESS(s.records = 3);
    ASSESS((s.epsilon = 0.5, s.rule = "classical"));
    ASSESS((s.sigma = 0, s.gamma = 0.7));
    ASSESS(s.alpha = -0.25);
    ASSESS(s.table = "different");
    ASSESS((s.table = "gaussian", s.classes = 2));
    ASSESS(s.dim = 3);
    ASSESS(s.sigma_q = 2);
    ASSESS(s.seed = 4);
    ASSESS(s.op = "background");
    ASSESS((s.op = "background", s.radius = 1.1));
    ASSESS((s.private_rows = rows, s.private_count = 2));
#define FIT(change) \
    do { \
        pm_fit_settings s = {.struct_size = sizeof s, .recipe = "classic", .seed = 1}; \
        change; \
        fit(s); \
    } while (0)
    FIT((void)0);
    FIT(s.recipe = "root,unit-rows,discriminate");
    FIT(s.normalize_rows = 1);
    FIT(s.unmeasured = 1);
    FIT(s.seed = 2);
    FIT(s.goal = "p8");
    {
        pm_private_settings s = {.struct_size = sizeof s, .epsilon = 1, .delta = 1e-6, .relation = "replace-one", .label_mode = "randomised", .label_epsilon = 0.7,
                                 .unit_kind = "client", .records = 2, .uncounted = 1, .normalize_rows = 1, .sigma = 0.5, .classes = 10};
        describe(s);
        s.relation = "features-replace";
        s.label_mode = "dropped";
        s.label_epsilon = 0;
        s.unit_kind = NULL;
        s.records = 1;
        s.private_rows = rows;
        s.private_count = 1;
        describe(s);
        s.rest_public = 1;
        describe(s);
    }
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
    free(z);
    free(in.labels);
    free((void *)in.x.data);
    return ended();
}
