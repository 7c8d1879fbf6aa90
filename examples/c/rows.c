/* rows.c: reads and generates rows, without PrivateMail. */
#define _XOPEN_SOURCE 700
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more row. */
static int grow(struct rows *r, int64_t *room) {
    if (r->n < *room)
        return 0;
    int64_t more = *room ? 2 * *room : 256;
    float *x = realloc(r->x, (size_t)(more * r->d) * sizeof *x);
    if (x)
        r->x = x;
    int32_t *labels = realloc(r->labels, (size_t)more * sizeof *labels);
    if (labels)
        r->labels = labels;
    if (!x || !labels)
        return -1;
    *room = more;
    return 0;
}

/* Reads the values of a line and then its class. Returns -1 for a malformed line. */
static int read_line(char *at, struct rows *r) {
    for (int64_t j = 0; j < r->d; j++) {
        char *end;
        r->x[r->n * r->d + j] = strtof(at, &end);
        if (end == at || *end != ',')
            return -1;
        at = end + 1;
    }
    char *end;
    errno = 0;
    long class = strtol(at, &end, 10);
    if (end == at || end[strspn(end, " \r\n")] != 0 || errno != 0 || class < 0 || class > INT32_MAX)
        return -1;
    r->labels[r->n++] = (int32_t)class;
    return 0;
}

int read_csv(const char *file, struct rows *r) {
    FILE *f = fopen(file, "r");
    if (!f) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        return -1;
    }
    char *line = NULL;
    size_t size = 0;
    int64_t room = 0, number = 0;
    int bad = 0;
    while (!bad && getline(&line, &size, f) >= 0) {
        number++;
        if (r->d == 0) /* the first line decides the number of columns */
            for (char *c = line; *c; c++)
                r->d += *c == ',';
        bad = r->d == 0 || grow(r, &room) != 0 || read_line(line, r) != 0;
        if (bad)
            fprintf(stderr, "%s: line %lld is not %lld numbers and a class\n", file, (long long)number, (long long)r->d);
    }
    if (!bad && (ferror(f) || r->n == 0)) {
        fprintf(stderr, "%s: no rows\n", file);
        bad = 1;
    }
    free(line);
    fclose(f);
    return bad ? -1 : 0;
}

/* A number from -1 to 1, the next of a fixed series. */
static double next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

int two_moons(int64_t n, struct rows *r) {
    if (n < 100 || n > 50000000) {
        fprintf(stderr, "two moons: want 100 to 50000000 rows\n");
        return -1;
    }
    r->n = n;
    r->d = 2;
    r->x = malloc((size_t)n * 2 * sizeof *r->x);
    r->labels = malloc((size_t)n * sizeof *r->labels);
    if (!r->x || !r->labels) {
        fprintf(stderr, "two moons: no memory for %lld rows\n", (long long)n);
        return -1;
    }
    uint64_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        double angle = 3.14159265358979 * (0.5 + 0.5 * next(&state));
        int moon = next(&state) > 0;
        r->x[2 * i] = (float)((moon ? 1 - cos(angle) : cos(angle)) + 0.15 * next(&state));
        r->x[2 * i + 1] = (float)((moon ? 0.5 - sin(angle) : sin(angle)) + 0.15 * next(&state));
        r->labels[i] = moon;
    }
    return 0;
}
