/* loaded.c: loads the library at run time, as an extension of another language does.
 *
 *   loaded LIBRARY unload    unloads it, which is refused, and goes on
 *   loaded LIBRARY fault     has a handler for faults of its own, which ends it with 42
 *   loaded LIBRARY signal    has a handler for SIGUSR1, and SIGINT, which it does not handle, ends it */
#define _POSIX_C_SOURCE 200809L
#include "pm.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef pm_status (*new_function)(const pm_engine_options *, pm_engine **);
typedef pm_status (*free_function)(pm_engine *);
typedef pm_status (*embed_function)(pm_engine *, const pm_rows *, const int32_t *, const pm_settings *, const pm_matrix *, pm_call *);

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    return found;
}

/* Embeds some rows with functions of the library. */
static int used(void *library) {
    float points[60], z[60];
    pm_rows x = {NULL, 30, 2, 2};
    pm_matrix out = {NULL, 30, 2, 2};
    pm_settings s;
    pm_engine *engine = NULL;
    new_function make;
    free_function end;
    embed_function embed;
    int i;
    *(void **)&make = symbol(library, "pm_engine_new");
    *(void **)&end = symbol(library, "pm_engine_free");
    *(void **)&embed = symbol(library, "pm_embed");
    for (i = 0; i < 60; i++) points[i] = (float)(i * i % 31);
    x.data = points;
    out.data = z;
    memset(&s, 0, sizeof s);
    s.struct_size = sizeof s;
    s.mean_neighbours = 4;
    s.form = "attract";
    return make(NULL, &engine) == PM_OK && embed(engine, &x, NULL, &s, &out, NULL) == PM_OK && end(engine) == PM_OK;
}

static void ends(int number) {
    (void)number;
    _exit(42);
}

static volatile sig_atomic_t noticed = 0;

static void notices(int number) {
    (void)number;
    noticed = 1;
}

int main(int argc, char **argv) {
    struct sigaction action;
    void *library;
    if (argc != 3) return 2;
    memset(&action, 0, sizeof action);
    action.sa_handler = ends;
    if (strcmp(argv[2], "fault") == 0) sigaction(SIGSEGV, &action, NULL);
    action.sa_handler = notices;
    sigaction(SIGUSR1, &action, NULL);
    if ((library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (!used(library)) return 1;
    if (strcmp(argv[2], "unload") == 0) {
        dlclose(library);
        if (!used(library)) return 1; /* it is still loaded */
        if ((library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) == NULL) return 1;
        return !used(library);
    }
    if (strcmp(argv[2], "fault") == 0) {
        volatile int *nowhere = (volatile int *)(size_t)(argc * 8);
        return *nowhere;
    }
    raise(SIGUSR1);
    if (!noticed || !used(library)) return 1;
    raise(SIGINT);
    return 0;
}
