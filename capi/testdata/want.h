/* want.h: expectations of the programs of this folder. A program ends with ended(), which reports failures. */
#ifndef WANT_H
#define WANT_H

#include "pm.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define WANT(status, expression) want(status, expression, NULL, __LINE__, #expression)
#define WANT_TEXT(status, text, expression) want(status, expression, text, __LINE__, #expression)
#define TRUE(expression) \
    do { \
        if (!(expression)) { \
            failures++; \
            fprintf(stderr, "line %d: false: %s\n", __LINE__, #expression); \
        } \
    } while (0)

/* An error has a text, which contains the given one, if any. */
static void want(pm_status status, pm_status got, const char *text, int line, const char *what) {
    if (got == status && (got == PM_OK || (pm_last_error()[0] != 0 && (text == NULL || strstr(pm_last_error(), text) != NULL)))) return;
    failures++;
    fprintf(stderr, "line %d: %s is %s (%s), want %s\n", line, what, pm_status_name(got), pm_last_error(), pm_status_name(status));
}

static int ended(void) { return failures != 0; }

#endif
