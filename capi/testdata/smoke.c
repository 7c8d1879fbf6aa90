/* smoke.c: embeds the rows of a file in several ways and writes the results, for a test to compare.
 *
 *   smoke INPUT OUTPUT */
#include "input.h"

#include <string.h>

static void must(pm_status status, const char *what) {
    if (status == PM_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, pm_status_name(status), pm_last_error());
    exit(1);
}

static void write_rows(const pm_matrix *m, FILE *out) {
    int64_t i;
    for (i = 0; i < m->rows; i++) fwrite(m->data + i * m->stride, sizeof *m->data, (size_t)m->cols, out);
}

int main(int argc, char **argv) {
    pm_engine *engine = NULL;
    pm_call *call = NULL;
    pm_engine_options options = {.struct_size = sizeof options, .workers = 3};
    pm_settings attract = {.struct_size = sizeof attract, .mean_neighbours = 20, .form = "attract", .coefficient = 3};
    pm_settings paper = {.struct_size = sizeof paper, .sigma = 20, .coefficient = 0.5, .dim = 3, .steps = 4, .seed = 7, .table = "different"};
    pm_settings nearest = {.struct_size = sizeof nearest, .neighbours = 10, .form = "attract", .dim = 2};
    input in;
    float *z;
    char *report;
    size_t needed;
    FILE *out;

    if (argc != 3 || (out = fopen(argv[2], "wb")) == NULL) return 2;
    in = read_input(argv[1]);
    z = take((size_t)(in.x.rows * (in.x.cols + 5)), sizeof *z);
    must(pm_engine_new(&options, &engine), "pm_engine_new");
    must(pm_call_new(&call), "pm_call_new");
    {
        pm_matrix wide = {z, in.x.rows, in.x.cols, in.x.cols + 5}; /* with a gap after each row */
        pm_matrix three = {z, in.x.rows, 3, 3}, two = {z, in.x.rows, 2, 2};
        must(pm_embed(engine, &in.x, in.labels, &attract, &wide, call), "pm_embed attract");
        write_rows(&wide, out);
        must(pm_embed(engine, &in.x, in.labels, &paper, &three, NULL), "pm_embed paper");
        write_rows(&three, out);
        must(pm_converge(engine, &in.x, NULL, &nearest, &two, NULL), "pm_converge");
        write_rows(&two, out);
        must(pm_map(engine, &in.x, &nearest, &two, NULL), "pm_map");
        write_rows(&two, out);
    }
    must(pm_call_report(call, NULL, 0, &needed), "the size of the report");
    report = take(needed, 1);
    must(pm_call_report(call, report, needed, &needed), "pm_call_report");
    if (strlen(report) != needed - 1) return 3;
    printf("%s\n", report);
    must(pm_call_free(call), "pm_call_free");
    must(pm_engine_free(engine), "pm_engine_free");
    free(report);
    free(z);
    free(in.labels);
    free((float *)in.x.data);
    return fclose(out) == 0 ? 0 : 4;
}
