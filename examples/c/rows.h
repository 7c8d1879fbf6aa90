/* rows.h: the rows that the example embeds, from a file or generated. */
#ifndef ROWS_H
#define ROWS_H

#include <stdint.h>

/* n rows of d values, and a class for each. The caller frees both arrays. */
struct rows {
    float *x;
    int32_t *labels;
    int64_t n, d;
};

/* These return 0, or -1 with a message on standard error. The caller frees r in either case. */
int read_csv(const char *file, struct rows *r);
int two_moons(int64_t n, struct rows *r);

#endif
