/* Embeds rows, and prints how often a row has the class of its nearest row among a few rows of known class: for the
 * original rows, and in the embedding, which is computed without classes.
 *
 *   embed [-n ROWS] [-workers W] [-report] [FILE.csv]
 *
 * A line of the file has the values of a row and its class, a whole number of 0 or more, in the last column.
 * Without a file it makes two moons. Ctrl-C ends the work early.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pm.h>

#include "rows.h"

/* The class of one row in this many is known. */
enum { KNOWN = 50 };

/* Prints on standard error how far a stage has come, at each tenth. Threads of the library call it, and the thread
 * that waits for the embedding. */
static void show_progress(const char *stage, int64_t done, int64_t total, void *user) {
    (void)user;
    if (total > 0 && 10 * done / total != 10 * (done - 1) / total)
        fprintf(stderr, "%s: %lld of %lld\n", stage, (long long)done, (long long)total);
}

/* Ctrl-C. A signal handler may do only little: it wakes a thread, and the thread ends the call. */
static sem_t wake;
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    int kept = errno;
    interrupted = 1;
    sem_post(&wake);
    errno = kept;
}

static void *wait_for_interrupt(void *call) {
    while (sem_wait(&wake) != 0)
        ; /* a signal came to this thread */
    if (interrupted)
        pm_call_cancel(call);
    return NULL;
}

/* Makes Ctrl-C cancel a call, with a thread that stop_watching ends. */
static int watch_interrupt(pm_call *call, pthread_t *thread) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    /* Threads of the library have small stacks, so a handler needs its own. */
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sem_init(&wake, 0, 0) != 0 || sigaction(SIGINT, &action, NULL) != 0)
        return -1;
    return pthread_create(thread, NULL, wait_for_interrupt, call) == 0 ? 0 : -1;
}

/* Restores the default action of Ctrl-C. The call must not be freed before. */
static void stop_watching(pthread_t thread) {
    signal(SIGINT, SIG_DFL);
    sem_post(&wake);
    pthread_join(thread, NULL);
}

/* Returns the share of rows whose class is that of the nearest row with a known one. */
static double found(const struct rows *r, const float *x) {
    int64_t right = 0, asked = 0;
    for (int64_t i = 0; i < r->n; i++) {
        double best = INFINITY;
        int32_t class = -1;
        if (i % KNOWN == 0)
            continue;
        for (int64_t j = 0; j < r->n; j += KNOWN) {
            double sum = 0;
            for (int64_t c = 0; c < r->d; c++) {
                double e = (double)x[i * r->d + c] - (double)x[j * r->d + c];
                sum += e * e;
            }
            if (sum < best) {
                best = sum;
                class = r->labels[j];
            }
        }
        asked++;
        right += class == r->labels[i];
    }
    return asked ? (double)right / (double)asked : 0;
}

/* Prints the report of a call, a JSON object. It asks for the size first. */
static pm_status print_report(pm_call *call) {
    size_t size = 0;
    pm_status status = pm_call_report(call, NULL, 0, &size);
    if (status != PM_OK)
        return status;
    char *text = malloc(size);
    if (!text)
        return PM_MEMORY;
    status = pm_call_report(call, text, size, &size);
    if (status == PM_OK)
        puts(text);
    free(text);
    return status;
}

/* Embeds the rows of r into z, which has the same number of rows. */
static pm_status embed(const struct rows *r, float *z, pm_call *call, int32_t workers) {
    pm_engine_options options = {.struct_size = sizeof options, .workers = workers};
    pm_settings settings = {
        .struct_size = sizeof settings,
        .neighbours = 10,
        .form = "attract",
        .steps = 1000,
    };
    pm_rows x = {r->x, r->n, r->d, r->d};
    pm_matrix out = {z, r->n, r->d, r->d};
    pm_engine *engine = NULL;
    pm_status status = pm_engine_new(&options, &engine);
    if (status == PM_OK)
        status = pm_embed(engine, &x, NULL, &settings, &out, call);
    if (status != PM_OK) /* before pm_engine_free, which may also fail */
        fprintf(stderr, "%s: %s\n", pm_status_name(status), pm_last_error());
    pm_engine_free(engine);
    return status;
}

/* Embeds and prints. Returns the exit code. */
static int run(const struct rows *r, int32_t workers, int report) {
    float *z = malloc((size_t)r->n * (size_t)r->d * sizeof *z);
    pm_call *call = NULL;
    pthread_t watcher;
    int code = 1;
    if (!z || pm_call_new(&call) != PM_OK || watch_interrupt(call, &watcher) != 0) {
        fprintf(stderr, "cannot begin: %s\n", pm_last_error());
        goto end;
    }
    pm_call_on_progress(call, show_progress, NULL);
    pm_status status = embed(r, z, call, workers);
    stop_watching(watcher);
    if (status == PM_OK && report)
        status = print_report(call);
    if (status == PM_OK) {
        printf("%lld rows of %lld columns, the class of one in %d is known\n", (long long)r->n, (long long)r->d, KNOWN);
        printf("the nearest of these has the right class: before %.3f, embedded %.3f\n", found(r, r->x), found(r, z));
    }
    code = status == PM_OK ? 0 : status == PM_CANCELLED ? 130 : 1;
end:
    pm_call_free(call);
    free(z);
    return code;
}

int main(int count, char **words) {
    long n = 1000, workers = 0;
    int report = 0;
    const char *file = NULL;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "-n") == 0 && i + 1 < count)
            n = strtol(words[++i], NULL, 10);
        else if (strcmp(words[i], "-workers") == 0 && i + 1 < count)
            workers = strtol(words[++i], NULL, 10);
        else if (strcmp(words[i], "-report") == 0)
            report = 1;
        else if (words[i][0] != '-' && !file)
            file = words[i];
        else {
            fprintf(stderr, "usage: embed [-n ROWS] [-workers W] [-report] [FILE.csv]\n");
            return 2;
        }
    }
    /* Stops if the library is not the one the program was built for. */
    if (pm_abi() / 1000 != PM_ABI_MAJOR) {
        fprintf(stderr, "the library has version %d of the interface, this program needs %d\n", pm_abi() / 1000, PM_ABI_MAJOR);
        return 1;
    }
    fprintf(stderr, "privatemail %s, %s\n", pm_version(), pm_simd_level());
    struct rows r = {0};
    int code = (file ? read_csv(file, &r) : two_moons(n, &r)) == 0 ? run(&r, (int32_t)workers, report) : 1;
    free(r.x);
    free(r.labels);
    return code;
}
