/* input.h: memory and rows for the programs of this folder. */
#ifndef INPUT_H
#define INPUT_H

#include "pm.h"

#include <stdio.h>
#include <stdlib.h>

/* Memory of zeros. */
static void *take(size_t count, size_t size) {
    void *p = calloc(count > 0 ? count : 1, size);
    if (p == NULL) exit(2);
    return p;
}

/* The file that a test in Go wrote: the numbers of rows and columns (int64), the rows (float) and their labels
 * (int32). */
typedef struct {
    pm_rows x;
    int32_t *labels;
} input;

static input read_input(const char *path) {
    input in;
    int64_t size[2] = {0, 0};
    float *data;
    size_t entries;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(size, sizeof size[0], 2, file) != 2) exit(2);
    entries = (size_t)(size[0] * size[1]);
    data = take(entries, sizeof *data);
    in.labels = take((size_t)size[0], sizeof *in.labels);
    if (fread(data, sizeof *data, entries, file) != entries) exit(2);
    if (fread(in.labels, sizeof *in.labels, (size_t)size[0], file) != (size_t)size[0]) exit(2);
    fclose(file);
    in.x.data = data;
    in.x.rows = size[0];
    in.x.cols = in.x.stride = size[1];
    return in;
}

#endif
