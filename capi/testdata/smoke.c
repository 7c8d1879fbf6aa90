/* smoke.c: embeds the rows of a file in several ways and writes what it got, for a test to compare.
 *
 *   smoke INPUT OUTPUT
 *
 * INPUT has the numbers of rows and columns (int64), the rows (float) and their labels (int32). */
#include "pm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pm_status status, const char *what) {
    if (status == PM_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, pm_status_name(status), pm_last_error());
    exit(1);
}

static void *take(size_t bytes) {
    void *p = malloc(bytes);
    if (p == NULL) exit(1);
    return p;
}

static void must_read(void *to, size_t size, size_t count, FILE *in) {
    if (fread(to, size, count, in) != count) {
        fprintf(stderr, "the input is too short\n");
        exit(1);
    }
}

int main(int argc, char **argv) {
    pm_engine *engine = NULL;
    pm_call *call = NULL;
    pm_engine_options options = {.struct_size = sizeof options, .workers = 3};
    pm_settings attract = {.struct_size = sizeof attract, .mean_neighbours = 20, .form = "attract", .coefficient = 3};
    pm_settings paper = {.struct_size = sizeof paper, .sigma = 20, .coefficient = 0.5, .columns = 3, .steps = 4, .seed = 7, .table = "different"};
    pm_settings nearest = {.struct_size = sizeof nearest, .neighbours = 10, .form = "attract", .columns = 2};
    int64_t size[2];
    float *x, *z;
    int32_t *labels;
    char *report;
    size_t needed;
    FILE *in, *out;

    if (argc != 3 || (in = fopen(argv[1], "rb")) == NULL || (out = fopen(argv[2], "wb")) == NULL) return 2;
    must_read(size, sizeof size[0], 2, in);
    x = take((size_t)(size[0] * size[1]) * sizeof *x);
    z = take((size_t)(size[0] * (size[1] + 5)) * sizeof *z);
    labels = take((size_t)size[0] * sizeof *labels);
    must_read(x, sizeof *x, (size_t)(size[0] * size[1]), in);
    must_read(labels, sizeof *labels, (size_t)size[0], in);
    fclose(in);

    must(pm_engine_new(&options, &engine), "pm_engine_new");
    must(pm_call_new(&call), "pm_call_new");
    {
        pm_rows rows = {x, size[0], size[1], size[1]};
        pm_matrix wide = {z, size[0], size[1], size[1] + 5}; /* with a gap behind each row */
        pm_matrix three = {z, size[0], 3, 3}, two = {z, size[0], 2, 2};
        int64_t i;
        must(pm_embed(engine, &rows, labels, &attract, &wide, call), "pm_embed attract");
        for (i = 0; i < wide.rows; i++) fwrite(z + i * wide.stride, sizeof *z, (size_t)wide.cols, out);
        must(pm_embed(engine, &rows, labels, &paper, &three, NULL), "pm_embed paper");
        fwrite(z, sizeof *z, (size_t)(three.rows * three.cols), out);
        must(pm_converge(engine, &rows, NULL, &nearest, &two, NULL), "pm_converge");
        fwrite(z, sizeof *z, (size_t)(two.rows * two.cols), out);
        must(pm_map(engine, &rows, &nearest, &two, NULL), "pm_map");
        fwrite(z, sizeof *z, (size_t)(two.rows * two.cols), out);
    }
    must(pm_call_report(call, NULL, 0, &needed), "the size of the report");
    report = take(needed);
    must(pm_call_report(call, report, needed, &needed), "pm_call_report");
    if (strlen(report) != needed - 1) return 3;
    printf("%s\n", report);
    must(pm_call_free(call), "pm_call_free");
    must(pm_engine_free(engine), "pm_engine_free");
    free(report);
    free(labels);
    free(z);
    free(x);
    return fclose(out) == 0 ? 0 : 4;
}
