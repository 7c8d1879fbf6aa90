/* private.c: private first steps, releases and ledgers.
 *
 *   private INPUT FOLDER
 *
 * leaves ledgers, releases and results from them in FOLDER, for a test to check. */
#define _XOPEN_SOURCE 700
#include "input.h"
#include "want.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLASSES = 10, WRONG = 4711 };

static const char *folder;
static pm_engine *engine;
static input in;

static const char *in_folder(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void keep(const char *name, const void *data, size_t size) {
    FILE *file = fopen(in_folder(name), "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) exit(2);
}

/* Settings for a release that a ledger pays for. */
static pm_private_settings priced(void) {
    pm_private_settings s = {.struct_size = sizeof s, .epsilon = 1, .delta = 1e-6, .relation = "features-replace", .label_mode = "dropped",
                             .unit = "digits", .new_unit = 1, .normalize_rows = 1, .sigma = 0.5, .sigma_q = 1, .seed = 3};
    return s;
}

static pm_status privatize(const pm_private_settings *s, pm_ledger *ledger, pm_release **release, pm_call *call) {
    return pm_privatize(engine, &in.x, in.labels, s, ledger, release, call);
}

/* The text of a ledger, with the unit of the settings or without. */
static char *described(pm_ledger *ledger, const char *unit) {
    size_t needed = 0;
    char *text;
    WANT(PM_OK, pm_ledger_describe(ledger, unit, NULL, NULL, 0, &needed));
    text = take(needed, 1);
    WANT(PM_SIZE, pm_ledger_describe(ledger, unit, NULL, text, 1, &needed));
    WANT(PM_OK, pm_ledger_describe(ledger, unit, NULL, text, needed, &needed));
    return text;
}

/* The head in such a text. */
static char *head_of(pm_ledger *ledger) {
    char *text = described(ledger, NULL), *at = strstr(text, "\"head\":\""), *head;
    if (at == NULL) exit(2);
    head = take(128, 1);
    sscanf(at, "\"head\":\"%127[^\"]", head);
    free(text);
    return head;
}

/* Keeps a release, its points and the result of later steps. */
static void keep_release(const char *name, pm_release *release, const int32_t *public_labels, int32_t use_alpha) {
    char file[64];
    int64_t rows = 0, columns = 0;
    size_t needed = 0;
    void *bytes;
    double *points;
    float *later;
    pm_settings s = {.struct_size = sizeof s, .mean_neighbours = 15, .steps = 3, .coefficient = 0.25};
    pm_matrix to;
    WANT(PM_OK, pm_release_size(release, &rows, &columns));
    TRUE(rows == in.x.rows && columns == 2);
    WANT(PM_OK, pm_release_write(release, NULL, 0, &needed));
    bytes = take(needed, 1);
    WANT(PM_SIZE, pm_release_write(release, bytes, needed - 1, &needed));
    WANT(PM_OK, pm_release_write(release, bytes, needed, &needed));
    keep(name, bytes, needed);
    free(bytes);
    points = take((size_t)(rows * columns), sizeof *points);
    WANT(PM_OK, pm_release_points(release, points));
    snprintf(file, sizeof file, "%s-points", name);
    keep(file, points, (size_t)(rows * columns) * sizeof *points);
    free(points);
    later = take((size_t)(rows * columns), sizeof *later);
    to.data = later;
    to.rows = rows;
    to.cols = to.stride = columns;
    WANT(PM_OK, pm_continue(engine, release, public_labels, &s, use_alpha, &to, NULL));
    snprintf(file, sizeof file, "%s-later", name);
    keep(file, later, (size_t)(rows * columns) * sizeof *later);
    to.cols = 1;
    WANT(PM_SHAPE, pm_continue(engine, release, public_labels, &s, use_alpha, &to, NULL));
    s.neighbours = 3;
    s.mean_neighbours = 0;
    WANT(PM_SETTING, pm_continue(engine, release, public_labels, &s, use_alpha, &to, NULL));
    free(later);
}

static void print_release(pm_release *release) {
    size_t needed = 0;
    char *text;
    WANT(PM_OK, pm_release_describe(release, NULL, 0, &needed));
    text = take(needed, 1);
    WANT(PM_OK, pm_release_describe(release, text, needed, &needed));
    printf("%s\n", text);
    free(text);
}

/* Missing fields have no default, and a refused call spends nothing. */
static void refused(pm_ledger *ledger) {
    pm_release *none = NULL;
    pm_call *cancelled = NULL;
    pm_private_settings s;
    char *before = head_of(ledger), *after;
    const int64_t rows[] = {0, INT64_MAX};
    int32_t label = in.labels[7];
#define REFUSED(status, text, change) \
    s = priced(); \
    change; \
    WANT_TEXT(status, text, privatize(&s, ledger, &none, NULL))
    REFUSED(PM_PRIVACY, "epsilon", s.epsilon = 0);
    REFUSED(PM_PRIVACY, "Epsilon", s.epsilon = -1);
    REFUSED(PM_PRIVACY, "delta", s.delta = 0);
    REFUSED(PM_PRIVACY, "relation", s.relation = NULL);
    REFUSED(PM_PRIVACY, "relation", s.relation = "add-remove");
    REFUSED(PM_PRIVACY, "label_mode", s.label_mode = NULL);
    REFUSED(PM_PRIVACY, "label_mode", s.label_mode = "");
    REFUSED(PM_PRIVACY, "unit", s.unit = NULL);
    REFUSED(PM_PRIVACY, "unit_kind", s.unit_kind = "row");
    REFUSED(PM_PRIVACY, "records", s.unit_kind = "client");
    REFUSED(PM_PRIVACY, "sigma", s.sigma = 0);
    REFUSED(PM_PRIVACY, "uncounted", s.uncounted = 1);
    REFUSED(PM_PRIVACY, "uncounted", s.uncounted = 2);
    REFUSED(PM_PRIVACY, "private_rows", s.private_rows = rows);
    REFUSED(PM_ARGUMENT, "private_rows", s.private_count = 1);
    REFUSED(PM_ARGUMENT, "struct_size", s.struct_size = 8);
    REFUSED(PM_PRIVACY, "unknown unit", s.new_unit = 0);
    REFUSED(PM_PRIVACY, "norm", s.normalize_rows = 0);
    REFUSED(PM_PRIVACY, "", s.op = "csr");
    REFUSED(PM_PRIVACY, "classes", s.alpha = 0.5);
    REFUSED(PM_BUDGET, "", s.epsilon = 4);
    WANT_TEXT(PM_PRIVACY, "", (s = priced(), s.private_rows = rows, s.private_count = 2, privatize(&s, ledger, &none, NULL)));
    in.labels[7] = WRONG;
    REFUSED(PM_LABELS, "row 8", (s.alpha = 0.5, s.classes = CLASSES));
    TRUE(strstr(pm_last_error(), "4711") == NULL); /* a label is private */
    in.labels[7] = label;
    s = priced();
    WANT_TEXT(PM_PRIVACY, "ledger is NULL", privatize(&s, NULL, &none, NULL));
    WANT(PM_HANDLE, privatize(&s, (pm_ledger *)engine, &none, NULL));
    WANT(PM_ARGUMENT, privatize(&s, ledger, NULL, NULL));
    WANT(PM_ARGUMENT, privatize(NULL, ledger, &none, NULL));
    s.alpha = 0.5;
    s.classes = CLASSES;
    WANT(PM_LABELS, pm_privatize(engine, &in.x, NULL, &s, ledger, &none, NULL));
    WANT(PM_OK, pm_call_new(&cancelled));
    WANT(PM_OK, pm_call_cancel(cancelled));
    WANT(PM_CANCELLED, privatize(&s, ledger, &none, cancelled));
    WANT(PM_CANCELLED, pm_sensitivity(100, 4, &s, cancelled));
    WANT(PM_OK, pm_call_free(cancelled));
    TRUE(none == NULL);
    after = head_of(ledger);
    TRUE(strcmp(before, after) == 0);
    free(before);
    free(after);
}

static void sensitivities(pm_call *call) {
    pm_private_settings s = priced();
    const int64_t row = 3;
    size_t needed = 0;
    char *text;
    s.unit = s.label_mode = NULL; /* they are ignored */
    WANT(PM_OK, pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    WANT(PM_OK, pm_call_report(call, NULL, 0, &needed));
    text = take(needed, 1);
    WANT(PM_OK, pm_call_report(call, text, needed, &needed));
    printf("%s\n", text);
    free(text);
    WANT(PM_ARGUMENT, pm_sensitivity(in.x.rows, in.x.cols, &s, NULL));
    WANT(PM_SETTING, pm_sensitivity(-1, in.x.cols, &s, call));
    s.private_rows = &row;
    s.private_count = 1;
    WANT(PM_OK, pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    s.private_count = INT64_MAX / 64; /* a list for which no memory is allocated */
    WANT_TEXT(PM_SHAPE, "private_count", pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    WANT_TEXT(PM_SHAPE, "private_count", pm_sensitivity(INT64_MAX, in.x.cols, &s, call));
    s.private_count = -1;
    WANT_TEXT(PM_SHAPE, "private_rows", pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    s.private_count = 0;
    WANT_TEXT(PM_PRIVACY, "private_rows", pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    s.private_rows = NULL;
    s.private_count = 2;
    WANT_TEXT(PM_ARGUMENT, "private_rows", pm_sensitivity(in.x.rows, in.x.cols, &s, call));
    s.private_count = 0;
    s.relation = NULL;
    WANT_TEXT(PM_PRIVACY, "relation", pm_sensitivity(in.x.rows, in.x.cols, &s, call));
}

/* A release that was paid for is not lost if the ledger cannot record it: the limit of the size of files leaves
 * room only for the spend. The right size is found by trying. */
static void spent(void) {
    pm_total total = {.struct_size = sizeof total, .kind = "gdp", .epsilon = 3, .delta = 1e-5};
    struct rlimit before, now;
    struct stat file;
    int room, seen = 0;
    if (getrlimit(RLIMIT_FSIZE, &before) != 0) exit(2);
    for (room = 0; room < 2000 && !seen; room += 8) {
        pm_private_settings s = priced();
        pm_ledger *ledger = NULL;
        pm_release *release = NULL;
        pm_status status;
        unlink(in_folder("short"));
        WANT(PM_OK, pm_ledger_create(in_folder("short"), &total));
        WANT(PM_OK, pm_ledger_open(in_folder("short"), NULL, &ledger));
        if (stat(in_folder("short"), &file) != 0) exit(2);
        now = before;
        now.rlim_cur = (rlim_t)(file.st_size + room);
        if (setrlimit(RLIMIT_FSIZE, &now) != 0) exit(2);
        status = privatize(&s, ledger, &release, NULL);
        if (setrlimit(RLIMIT_FSIZE, &before) != 0) exit(2);
        if (status == PM_SPENT && release != NULL) {
            seen = 1;
            TRUE(strlen(pm_last_error()) > 0);
            print_release(release);
            WANT(PM_OK, pm_release_free(release));
        } else {
            TRUE(status != PM_OK && release == NULL);
        }
        WANT(PM_OK, pm_ledger_free(ledger));
        if (failures) return;
    }
    TRUE(seen);
}

static void ledgers(void) {
    pm_total total = {.struct_size = sizeof total, .kind = "gdp", .epsilon = 3, .delta = 1e-5}, bad = total;
    pm_ledger *none = NULL;
    WANT(PM_OK, pm_ledger_create(in_folder("ledger"), &total));
    WANT(PM_SYSTEM, pm_ledger_create(in_folder("ledger"), &total)); /* never replaces a file */
    WANT(PM_ARGUMENT, pm_ledger_create(NULL, &total));
    WANT(PM_ARGUMENT, pm_ledger_create(in_folder("other"), NULL));
    bad.kind = NULL;
    WANT_TEXT(PM_PRIVACY, "kind", pm_ledger_create(in_folder("other"), &bad));
    bad = total;
    bad.epsilon = 0;
    WANT_TEXT(PM_PRIVACY, "epsilon", pm_ledger_create(in_folder("other"), &bad));
    bad = total;
    bad.delta = 0;
    WANT_TEXT(PM_PRIVACY, "delta", pm_ledger_create(in_folder("other"), &bad));
    bad = total;
    bad.kind = "mixed"; /* and no pure_epsilon */
    WANT(PM_PRIVACY, pm_ledger_create(in_folder("other"), &bad));
    WANT(PM_ARGUMENT, pm_ledger_open(in_folder("ledger"), NULL, NULL));
    WANT(PM_ARGUMENT, pm_ledger_open(NULL, NULL, &none));
    WANT(PM_PRIVACY, pm_ledger_open(in_folder("ledger"), "", &none));
    WANT(PM_PRIVACY, pm_ledger_open(in_folder("ledger"), "7:zz", &none));
    TRUE(none == NULL);
}

int main(int argc, char **argv) {
    pm_private_settings s = priced();
    pm_ledger *ledger = NULL, *second = NULL;
    pm_release *release = NULL, *again = NULL;
    pm_call *call = NULL;
    char *head, *later, *text;
    size_t needed = 0;
    if (argc != 3) return 2;
    signal(SIGXFSZ, SIG_IGN);
    in = read_input(argv[1]);
    folder = argv[2];
    WANT(PM_OK, pm_engine_new(NULL, &engine));
    WANT(PM_OK, pm_call_new(&call));
    ledgers();
    WANT(PM_OK, pm_ledger_open(in_folder("ledger"), NULL, &ledger));
    WANT(PM_BUSY, pm_ledger_open(in_folder("ledger"), NULL, &second));
    refused(ledger);
    sensitivities(call);
    head = head_of(ledger);

    WANT(PM_OK, privatize(&s, ledger, &release, call));
    print_release(release);
    keep_release("dropped", release, NULL, 0);
    WANT(PM_LABELS, pm_continue(engine, release, in.labels, NULL, 0, &(pm_matrix){(float *)in.x.data, in.x.rows, 2, 2}, NULL));
    WANT(PM_OK, pm_release_free(release));
    WANT(PM_HANDLE, pm_release_free(release));
    text = described(ledger, "digits");
    TRUE(strstr(text, "\"spent\"") != NULL && strstr(text, "digits") == NULL); /* the name is the caller's */
    free(text);

    WANT_TEXT(PM_PRIVACY, "unknown unit", pm_ledger_describe(ledger, "digit", NULL, NULL, 0, &needed));

    s.new_unit = 0; /* the ledger knows it */
    s.relation = "replace-one";
    s.label_mode = "randomised";
    s.label_epsilon = 0.5;
    s.alpha = 0.5;
    s.classes = CLASSES;
    later = head_of(ledger);
    WANT_TEXT(PM_PRIVACY, "another relation", privatize(&s, ledger, &release, NULL));
    text = head_of(ledger);
    TRUE(strcmp(later, text) == 0); /* nothing was spent */
    free(later);
    free(text);
    s.other_relation = 2;
    WANT_TEXT(PM_PRIVACY, "other_relation", privatize(&s, ledger, &release, NULL));
    s.other_relation = 1;
    s.struct_size = offsetof(pm_private_settings, other_relation); /* as an older header has it */
    WANT_TEXT(PM_PRIVACY, "another relation", privatize(&s, ledger, &release, NULL));
    s.struct_size = sizeof s;
    WANT(PM_OK, privatize(&s, ledger, &release, NULL));
    text = described(ledger, "digits");
    TRUE(strstr(text, "\"protects\":\"features-replace\",\"subtotals\"") != NULL && strstr(text, "\"protects\":\"replace-one\"") != NULL);
    free(text);
    keep_release("randomised", release, NULL, 1);
    WANT(PM_OK, pm_release_free(release));
    later = head_of(ledger);
    TRUE(strcmp(head, later) != 0);
    WANT(PM_OK, pm_ledger_free(ledger));
    WANT(PM_HANDLE, privatize(&s, ledger, &release, NULL));
    WANT(PM_OK, pm_ledger_open(in_folder("ledger"), head, &ledger));
    WANT(PM_OK, pm_ledger_free(ledger));
    WANT(PM_OK, pm_ledger_open(in_folder("ledger"), later, &ledger));
    WANT(PM_OK, pm_ledger_free(ledger));
    {
        char *last = later + strlen(later) - 1;
        *last = *last == '0' ? '1' : '0'; /* another state */
    }
    WANT(PM_FILE, pm_ledger_open(in_folder("ledger"), later, &ledger));

    s = priced();
    s.uncounted = 1;
    s.unit = NULL;
    s.label_mode = "public";
    s.alpha = 0.5;
    s.classes = CLASSES;
    WANT(PM_OK, privatize(&s, NULL, &release, NULL));
    keep_release("uncounted", release, in.labels, 1);
    {
        size_t needed = 0;
        char *bytes;
        WANT(PM_OK, pm_release_write(release, NULL, 0, &needed));
        bytes = take(needed, 1);
        WANT(PM_OK, pm_release_write(release, bytes, needed, &needed));
        WANT(PM_OK, pm_release_read(bytes, needed, &again));
        bytes[needed / 2] ^= 1;
        WANT(PM_FILE, pm_release_read(bytes, needed, &again));
        WANT(PM_FILE, pm_release_read(bytes, 10, &again));
        WANT(PM_ARGUMENT, pm_release_read(bytes, needed, NULL));
        WANT(PM_ARGUMENT, pm_release_read(NULL, 9, &again));
        free(bytes);
    }
    keep_release("again", again, in.labels, 0); /* with the alpha of the release */
    WANT(PM_ARGUMENT, pm_release_points(again, NULL));
    WANT(PM_HANDLE, pm_release_points((pm_release *)engine, NULL));
    WANT(PM_OK, pm_release_free(again));
    WANT(PM_OK, pm_release_free(release));
    spent();
    free(later);
    free(head);
    WANT(PM_OK, pm_call_free(call));
    WANT(PM_OK, pm_engine_free(engine));
    free(in.labels);
    free((void *)in.x.data);
    return ended();
}
